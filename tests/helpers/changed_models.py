"""Models with one part changed: terms and constraints added, dropped, scaled, moved, exchanged."""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

import indefinite_opt.algebra as cp
from indefinite_opt.algebra import Constant, Constraint, Expression, Model, Operator, Variable

Found = Iterator[tuple[str, Model]]


def changes(model: Model, seed: int = 0) -> Found:
    """A sentence on each change, and the changed model."""
    yield "as declared", model
    yield from _of_sense(model)
    yield from _of_terms(model)
    yield from _of_further_terms(model, np.random.default_rng(seed))
    yield from _of_constraints(model, np.random.default_rng(seed + 1))
    yield from _of_further_constraints(model, np.random.default_rng(seed + 2))
    yield from _of_symbols(model, np.random.default_rng(seed + 3))
    yield from _of_variables(model, np.random.default_rng(seed + 4))


# -------------------------------------------------------------------------- parts of a model


def objective(model: Model) -> Any:
    return model.minimize if model.maximize is None else model.maximize


def with_objective(model: Model, expression: Any) -> Model:
    side = "minimize" if model.maximize is None else "maximize"
    return replace(model, **{side: expression})


def terms(model: Model) -> list[Expression]:
    whole = objective(model)
    return list(whole.args) if whole.kind == "AddExpression" else [whole]


def variables(model: Model) -> list[Variable]:
    found = objective(model).variables()
    for constraint in model.subject_to.values():
        found += constraint.variables()
    return [v for v in dict.fromkeys(found) if v.ndim < 2]


def total(parts: list[Any]) -> Any:
    return functools.reduce(operator.add, parts)


def substituted(part: Any, old: Any, new: Any) -> Any:
    """An expression or a constraint with another expression in place of one."""
    if part is old:
        return new
    if not part.args:
        return part
    args = tuple(substituted(arg, old, new) for arg in part.args)
    if all(a is b for a, b in zip(args, part.args, strict=True)):
        return part
    if isinstance(part, Constraint):
        return Constraint(part.kind, *args)
    return type(part)(part.kind, args, part.shape, part.key)


def everywhere(model: Model, old: Any, new: Any) -> Model:
    rows = {name: substituted(one, old, new) for name, one in model.subject_to.items()}
    changed = with_objective(model, substituted(objective(model), old, new))
    return replace(changed, subject_to=rows)


def constants(part: Any) -> list[Constant]:
    """The constants with names in an expression or a constraint."""
    if isinstance(part, Constant):
        return [part] if part._name else []
    return list(dict.fromkeys(found for arg in part.args for found in constants(arg)))


# ------------------------------------------------------------------------------- the changes


def _of_sense(model: Model) -> Found:
    whole = objective(model)
    sides = {"minimize": None, "maximize": None}
    side = "maximize" if model.maximize is None else "minimize"
    yield "the other sense", replace(model, **(sides | {side: whole}))
    yield "the other sense and sign", replace(model, **(sides | {side: -whole}))
    yield "the other sign", with_objective(model, -whole)


def _of_terms(model: Model) -> Found:
    parts = terms(model)
    for k, term in enumerate(parts):
        rest = parts[:k] + parts[k + 1 :]
        if rest:
            yield f"without {term}", with_objective(model, total(rest))
        for multiple in (2.0, 0.3, -1.0, 0.0, 1.0 + 1e-7):
            changed = total([*parts[:k], multiple * term, *parts[k + 1 :]])
            yield f"{multiple} times {term}", with_objective(model, changed)
        yield f"{term} twice", with_objective(model, total([*parts, term]))
        yield f"half of {term}", with_objective(model, total([*rest, term / 2]))


def _of_further_terms(model: Model, generator: np.random.Generator) -> Found:
    whole, found = objective(model), variables(model)
    yield "plus 1.7", with_objective(model, whole + 1.7)
    yield "minus a sum of constants", with_objective(model, whole - cp.sum(np.ones(3)))
    for v in found:
        for text, term in _atoms(v, generator):
            for sign, sum_of in (("plus", operator.add), ("minus", operator.sub)):
                yield f"{sign} {text} of {v}", with_objective(model, sum_of(whole, term))
    for v in found:
        for w in found:
            if v is not w and not v.shape:
                first = w[0] if w.shape else w
                yield f"plus {v} times {w}", with_objective(model, whole + 0.2 * (v * first))


def _atoms(v: Variable, generator: np.random.Generator) -> Iterator[tuple[str, Any]]:
    yield "the squares", 0.3 * cp.sum_squares(v)
    yield "the absolute value", 0.2 * cp.norm1(v)
    yield "the hinge", 0.4 * cp.sum(cp.pos(v - 0.1))
    yield "the squared hinge", 0.4 * cp.sum(cp.square(cp.pos(0.2 - v)))
    yield "the logistic loss", 0.5 * cp.sum(cp.logistic(v))
    yield "the sum", 0.7 * cp.sum(v)
    yield "squares about 0.3", cp.sum(cp.square(v - 0.3))
    if not v.shape:
        return
    n = v.size
    c, w = generator.standard_normal(n), generator.uniform(0.2, 1.0, n)
    B = generator.standard_normal((n, n))
    yield "a linear term", c @ v
    yield "the last entry", 0.4 * v[n - 1]
    yield "every second entry", cp.sum(v[::2])
    yield "weighed squares", w @ cp.square(v)
    yield "weighed absolute values", w @ cp.abs(v)
    yield "a quadratic form", cp.quad_form(v, 0.5 * (B + B.T))
    yield "a quadratic form about a point", cp.quad_form(v - w, B @ B.T)
    yield "squares of an image", 0.1 * cp.sum_squares(B @ v - c)
    yield "a product of two linear terms", (c @ v) * (w @ v)
    yield "a product of vectors", 0.3 * (v @ (B @ v))
    yield "a multiple of the identity", cp.quad_form(v, 0.7 * np.eye(n))
    yield "a diagonal form", cp.quad_form(v, np.diag(c))


def _of_constraints(model: Model, generator: np.random.Generator) -> Found:
    rows = model.subject_to

    def other(name: str, *changed: Any) -> Model:
        made = {}
        for key, one in rows.items():
            if key == name:
                made.update(zip((name, f"{name} again"), changed, strict=False))
            else:
                made[key] = one
        return replace(model, subject_to=made)

    for name, one in rows.items():
        low, high = one.args
        yield f"without {name}", other(name)
        yield f"{name} twice", other(name, one, one)
        for multiple in (3.0, 0.5):
            scaled = Constraint(one.kind, multiple * low, multiple * high)
            yield f"{multiple} times {name}", other(name, scaled)
            yield (
                f"{multiple} times the left of {name}",
                other(name, Constraint(one.kind, multiple * low, high)),
            )
        yield f"{name} negated", other(name, Constraint(one.kind, -high, -low))
        yield f"{name} turned", other(name, Constraint(one.kind, high, low))
        yield f"{name} of differences", other(name, Constraint(one.kind, low - high, Constant(0.0)))
        for move in (0.1, -0.05):
            yield f"{name} moved by {move}", other(name, Constraint(one.kind, low, high + move))
            yield (
                f"{name} and {name} moved by {move}",
                other(name, one, Constraint(one.kind, low, high + move)),
            )
        kind = "Equality" if one.kind == "Inequality" else "Inequality"
        yield f"{name} as {kind}", other(name, Constraint(kind, low, high))
        yield (
            f"{name} as another name",
            replace(
                model, subject_to={{name: "renamed"}.get(key, key): c for key, c in rows.items()}
            ),
        )
        if one.shape:
            n = one.shape[0]
            w, zero = generator.uniform(0.5, 1.5, n), np.ones(n)
            zero[0] = 0.0
            left = low - high
            for text, weights in (("weighed", w), ("without its first row", zero)):
                changed = Constraint(one.kind, cp.multiply(weights, left), Constant(0.0))
                yield f"{name} {text}", other(name, changed)
            yield (
                f"{name} moved entry by entry",
                other(name, Constraint(one.kind, low, high + 0.1 * w)),
            )
            yield (
                f"the first row of {name}",
                other(name, Constraint(one.kind, left[0], Constant(0.0))),
            )
            yield (
                f"{name} without its last row",
                other(name, Constraint(one.kind, left[: n - 1], Constant(0.0))),
            )
            yield (
                f"the sum of {name}",
                other(name, Constraint(one.kind, cp.sum(left), Constant(0.0))),
            )
    names = list(rows)
    if len(names) > 1:
        yield "constraints reversed", replace(model, subject_to=dict(reversed(rows.items())))
    for a, b in itertools.pairwise(names):
        exchanged = {{a: b, b: a}.get(key, key): one for key, one in rows.items()}
        yield f"names of {a} and {b} exchanged", replace(model, subject_to=exchanged)


def _of_further_constraints(model: Model, generator: np.random.Generator) -> Found:
    def plus(**further: Any) -> Model:
        return replace(model, subject_to={**model.subject_to, **further})

    yield "a constraint of constants", plus(constant=Constant(0.0) <= 1.0)
    for v in variables(model):
        yield f"{v} at most 0.7", plus(cap=v <= 0.7)
        yield f"{v} at least -0.3", plus(floor=v >= -0.3)
        yield f"{v} at most inf", plus(cap=v <= np.inf)
        yield f"the 1-norm of {v} at most 2", plus(norm=cp.norm1(v) <= 2.0)
        s = Variable(name="s")
        yield f"a new variable above {v}", plus(above=v <= s)
        yield (
            f"a new variable above {v} with a price",
            replace(
                with_objective(model, objective(model) + (s if model.maximize is None else -s)),
                subject_to={**model.subject_to, "above": v <= s, "sign": s >= 0},
            ),
        )
        if not v.shape:
            yield f"{v} at 0.2", plus(fixed=v == 0.2)
            continue
        n = v.size
        c, w = generator.standard_normal(n), generator.uniform(0.2, 1.0, n)
        B = generator.standard_normal((2, n))
        yield f"the sum of {v} at most 0.8", plus(total=cp.sum(v) <= 0.8)
        yield f"the sum of {v} at 0.4", plus(total=cp.sum(v) == 0.4)
        yield f"a line of {v}", plus(line=c @ v == 0.1)
        yield f"a row of {v}", plus(row=c @ v <= 0.6)
        yield f"rows of {v}", plus(rows=B @ v <= 0.6)
        yield f"{v} at most a vector", plus(upper=v <= w)
        yield f"{v} at most a vector, beside", plus(cap=v <= w)
        yield f"the first entry of {v} at 0.1", plus(first=v[0] == 0.1)
        yield f"{v} in pairs", plus(pairs=v[: n - 1] <= v[1:])


def _of_symbols(model: Model, generator: np.random.Generator) -> Found:
    found = constants(objective(model))
    for one in model.subject_to.values():
        found += constants(one)
    for symbol in dict.fromkeys(found):
        for text, value in _other_values(symbol.value, generator):
            changed = Constant(value, name=symbol.name())
            yield f"{symbol}: {text}", everywhere(model, symbol, changed)
            first = substituted(objective(model), symbol, changed)
            if first is not objective(model) and model.subject_to:
                yield f"{symbol} in the objective: {text}", with_objective(model, first)


def _other_values(value: Any, generator: np.random.Generator) -> Iterator[tuple[str, Any]]:
    yield "doubled", 2.0 * value
    yield "negated", -1.0 * value
    yield "zero", 0.0 * value
    if np.ndim(value) == 1:
        yield "moved", value + generator.uniform(-0.2, 0.2, value.shape)
        yield "reversed", value[::-1].copy()
        yield "ones", np.ones(value.size)
    if np.ndim(value) != 2:
        return
    array = np.asarray(value)
    noise = generator.standard_normal(array.shape)
    yield "an equal array", array.copy()
    yield "another array", noise + noise.T if noise.shape[0] == noise.shape[1] else noise
    yield "an array that is not symmetric", array + noise
    one = array.copy()
    one[0, -1] += 0.3
    yield "one entry moved", one
    if isinstance(value, Operator):
        yield "plus the identity", value + Operator.identity(array.shape[0], 0.5)
        yield "plus ones", value + np.ones(array.shape)
        yield "its square", value @ value


def _of_variables(model: Model, generator: np.random.Generator) -> Found:
    for v in variables(model):
        yield f"{v} moved", everywhere(model, v, v + 0.1)
        yield f"{v} doubled", everywhere(model, v, 2.0 * v)
        yield f"{v} negated", everywhere(model, v, -v)
        moved = substituted(objective(model), v, v - 0.2)
        yield f"{v} moved in the objective", with_objective(model, moved)
        renamed = Variable(v.shape, name="z")
        yield f"{v} with another name", everywhere(model, v, renamed)
        for name, one in model.subject_to.items():
            for text, other in _images(v):
                changed = substituted(one, v, other)
                if changed is not one:
                    rows = {**model.subject_to, name: changed}
                    yield f"{v} {text} in {name}", replace(model, subject_to=rows)
        if v.shape:
            yield f"{v} reversed", everywhere(model, v, v[::-1])
            weights = generator.uniform(0.5, 1.5, v.size)
            yield f"{v} weighed", everywhere(model, v, cp.multiply(weights, v))
            continue
        m = next(w.size for w in [*variables(model), Variable(3)] if w.shape)
        one = Variable(1, name=v.name())
        yield f"{v} in a vector of one", everywhere(model, v, one[0])
        several = Variable(m, name=v.name())
        yield f"{v} as the sum of a vector", everywhere(model, v, cp.sum(several))
        yield from _spread(model, v, several)


def _images(v: Variable) -> list[tuple[str, Any]]:
    images: list[tuple[str, Callable[[Any], Any]]] = [
        ("doubled", lambda x: 2.0 * x), ("moved", lambda x: x + 0.15), ("negated", lambda x: -x),
    ]  # fmt: skip
    if v.shape:
        images.append(("reversed", lambda x: x[::-1]))
    return [(text, make(v)) for text, make in images]


def _spread(model: Model, v: Variable, several: Variable) -> Found:
    """A vector in place of a number, where the shapes allow it; elsewhere its sum."""

    def spread(part: Any) -> Any:
        if part is v:
            return cp.sum(several)
        if part.kind == "Promote" and part.args[0] is v and part.shape == several.shape:
            return several
        if not part.args:
            return part
        args = tuple(spread(arg) for arg in part.args)
        if isinstance(part, Constraint):
            return Constraint(part.kind, *args)
        return type(part)(part.kind, args, part.shape, part.key)

    rows = {name: spread(one) for name, one in model.subject_to.items()}
    changed = with_objective(model, spread(objective(model)))
    yield f"{v} as a vector", replace(changed, subject_to=rows)
