"""Random expressions of cvxpy: what is read of them has their values, or they are refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

from indefinite_opt.algebra import Model, NotCanonical, canonical

Make = Callable[[np.random.Generator, Any, Any], Any]


def integers(g: np.random.Generator, *shape: int) -> Any:
    return g.integers(-3, 4, shape).astype(float)


def part(g: np.random.Generator) -> slice:
    ends = [None if g.random() < 0.3 else int(g.integers(-5, 5)) for _ in range(2)]
    return slice(*ends, int(g.choice([1, 2, -1, -2])))


def weighted(g: np.random.Generator, e: Any) -> Any:
    return cp.sum(cp.multiply(integers(g, *e.shape), e))


AFFINE: list[Make] = [
    lambda g, e, f: e + integers(g, *e.shape),
    lambda g, e, f: e - f,
    lambda g, e, f: -e / float(2.0 ** g.integers(-2, 3)),
    lambda g, e, f: cp.sum(e, axis=int(g.integers(2)), keepdims=bool(g.integers(2))),
    lambda g, e, f: cp.multiply(integers(g, *e.shape), e),
    lambda g, e, f: integers(g, 2, e.shape[0]) @ e,
    lambda g, e, f: e @ integers(g, e.shape[-1], 3),
    lambda g, e, f: e[part(g)],
    lambda g, e, f: e[:, part(g)],
    lambda g, e, f: e[g.integers(0, e.shape[0], 3).tolist()],
    lambda g, e, f: e[g.random(e.shape[0]) < 0.7],
    lambda g, e, f: cp.reshape(e, (2, e.size // 2), order=str(g.choice(["C", "F"]))),
    lambda g, e, f: cp.vec(e.T, order=str(g.choice(["C", "F"]))),
    lambda g, e, f: cp.hstack([e, f]),
    lambda g, e, f: cp.vstack([e, f]),
    lambda g, e, f: cp.cumsum(e, axis=int(g.integers(max(e.ndim, 1)))),
    lambda g, e, f: cp.kron(integers(g, 2, 2), e),
]
TERMS: list[Make] = [
    lambda g, e, f: cp.sum_squares(e),
    lambda g, e, f: weighted(g, cp.square(e)),
    lambda g, e, f: weighted(g, cp.multiply(e, f)),
    lambda g, e, f: weighted(g, e @ f),
    lambda g, e, f: weighted(g, cp.abs(e)),
    lambda g, e, f: weighted(g, cp.maximum(e, np.zeros((3, *e.shape)[-max(e.ndim, 1) :]))),
    lambda g, e, f: weighted(g, cp.norm1(e, axis=int(g.integers(2)))),
    lambda g, e, f: weighted(g, cp.quad_over_lin(e, 2.0, axis=int(g.integers(2)))),
    lambda g, e, f: cp.sum(cp.square(cp.pos(e))) + cp.sum(cp.logistic(f)),
]
CONSTRAINTS: list[Make] = [
    lambda g, e, f: e <= float(g.integers(-3, 4)),
    lambda g, e, f: e >= f,
    lambda g, e, f: e == f,
    lambda g, e, f: cp.norm1(e) <= 3.0,
    lambda g, e, f: cp.norm1(e, axis=0) <= 3.0,
]


def drawn(g: np.random.Generator, makes: list[Make], e: Any, f: Any) -> Any:
    """Of something that cvxpy accepts, with entries; e itself if it is nothing."""
    try:
        made = makes[g.integers(len(makes))](g, e, f)
        value = made.violation() if hasattr(made, "violation") else made.value
    except (ValueError, IndexError, TypeError, np.exceptions.AxisError):
        return e
    consistent = hasattr(made, "violation") or np.shape(value) == made.shape != (0,)
    return made if consistent and 0 not in made.shape else e


@pytest.mark.parametrize(
    ("seed", "draws"), [(0, 200), pytest.param(1, 3_000, marks=pytest.mark.slow)]
)
@pytest.mark.filterwarnings("ignore")
def test_expressions_have_the_values_that_cvxpy_says(seed: int, draws: int) -> None:
    g, ends = np.random.default_rng(seed), Counter[str]()
    for _ in range(draws):
        x, Y, b = (cp.Variable(s, name=n) for n, s in {"x": 4, "Y": (2, 3), "b": ()}.items())
        for variable in (x, Y, b):
            variable.value = integers(g, *variable.shape)
        pool: list[Any] = [x, Y, b]
        for _ in range(4):
            e, f = (pool[k] for k in g.integers(len(pool), size=2))
            pool.append(drawn(g, AFFINE, e, f))
        e, f = pool[-1], pool[g.integers(len(pool))]
        objective = cp.sum(drawn(g, TERMS, e, f)) + 2.0 * cp.sum(drawn(g, TERMS, f, e))
        constraint = drawn(g, CONSTRAINTS, e, f)
        rows = {"row": constraint} if hasattr(constraint, "violation") else {}
        values = {v.name(): v.value for v in (x, Y, b)}
        called = {v.id: v.name() for v in (x, Y, b)}
        try:
            form = canonical(Model(minimize=objective, subject_to=rows), called)
        except NotCanonical:
            ends["refused"] += 1
            continue
        assert form.value(values) == pytest.approx(float(objective.value), rel=1e-9, abs=1e-9)
        for u in form.residuals(values).values():
            missed = np.abs(u) if "Equal" in type(constraint).__name__ else np.maximum(u, 0.0)
            assert np.sum(missed) == pytest.approx(np.sum(constraint.violation()), abs=1e-9)
            ends["rows"] += 1
        ends["read"] += 1
    assert ends["read"] >= 0.8 * draws
    assert ends["rows"] >= 0.3 * draws
