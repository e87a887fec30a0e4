"""The compiled loops of the relaxation and of equality constraints, against plain statements."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import plain_relaxation as plain
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

from indefinite_opt.core import conditions, relaxation
from indefinite_opt.errors import ProblemError

Array = NDArray[np.float64]

CASES = [(1, 0), (2, 1), (5, 0), (6, 2), (9, 1)]
"""Variables and lines."""


def random_model(generator: np.random.Generator, n: int, lines: int) -> relaxation.Model:
    cost = generator.standard_normal((n + 1, n + 1))
    normals = np.linalg.qr(generator.standard_normal((n + 1, lines)))[0].T
    binary = generator.random(n) < 0.4
    cost += cost.T.copy()
    return relaxation.Model(cost, np.ascontiguousarray(normals), binary, 1.7, 1.3)


def random_inequalities(
    generator: np.random.Generator, pairs: int, signs: list[float], least: float
) -> relaxation.Inequalities:
    count = min(4, pairs)
    places = np.zeros((count, len(signs)), np.int64)
    for row in places:
        row[:] = generator.permutation(4 * pairs)[: len(signs)]
    return relaxation.Inequalities(generator.random(count), places, np.array(signs), least)


def random_iterate(generator: np.random.Generator, n: int) -> relaxation.Iterate:
    pairs = n * (n - 1) // 2
    shapes = [(pairs, 4), (n, 2), (n, 3), (1,), (pairs, 4)]
    normal = [0.3 + generator.standard_normal(shape) for shape in shapes]
    kinds = (
        random_inequalities(generator, pairs, [1.0, 1.0, -1.0], 0.0),
        random_inequalities(generator, pairs, [1.0] * 4, 1.0),
        random_inequalities(generator, pairs, [1.0, 1.0, 1.0, -1.0], 0.5),
    )
    return relaxation.Iterate(*normal, kinds, np.array([0.4]), np.eye(n + 1))


def state(iterate: relaxation.Iterate) -> Array:
    """All that changes, with the multipliers."""
    *parts, kinds, penalty, U = iterate.arrays
    multipliers = [each.arrays[0] for each in kinds]
    return np.concatenate([part.ravel() for part in (*parts, *multipliers, penalty, U)])


@pytest.mark.parametrize(("n", "lines"), CASES)
def test_an_iteration_is_that_of_full_matrices(n: int, lines: int) -> None:
    generator = np.random.default_rng(n)
    model, iterate = random_model(generator, n, lines), random_iterate(generator, n)
    cost, normals, binary, omega, _ = model.arrays
    pairs, ends, squares, corner, cut, kinds, penalty, U = iterate.arrays
    W, zeros = plain.lifting(n, omega), (np.zeros((n, 2)), np.zeros((n, 3)), 0.0)
    V = plain.whole(pairs, ends, squares, corner[0], omega)
    shift = plain.whole(cut, *zeros, omega)
    Z = plain.nonnegative(V, shift, binary, omega)
    expected_U = plain.projected(V, Z, W, cost, normals, penalty[0])
    lifted = W @ expected_U @ W.T
    expected = plain.stepped(V, Z, lifted)
    after = plain.nonnegative(expected, shift, binary, omega)

    G, residuals = np.empty_like(U), np.zeros(2)
    expected_cut, multipliers = cut.ravel().copy(), [each.arrays[0].copy() for each in kinds]
    relaxation.gather(model, iterate, G)
    relaxation.project(G, U)
    relaxation.scatter(model, iterate, residuals)
    assert_allclose(U, expected_U, atol=1e-13 * np.abs(G).max())
    found = plain.whole(pairs, ends, squares, corner[0], omega)
    assert_allclose(found, expected, atol=1e-12 * np.abs(expected).max())
    primal, dual = np.linalg.norm(lifted - after), np.linalg.norm(after - Z)
    assert_allclose(residuals, [primal / (1 + n), penalty[0] * dual], rtol=1e-12)

    for _ in range(2):
        for each, mu in zip(kinds, multipliers, strict=True):
            plain.sweep(pairs.ravel(), expected_cut, mu, *each.arrays[1:])
    assert_allclose(cut.ravel(), expected_cut, atol=1e-14)
    for each, mu in zip(kinds, multipliers, strict=True):
        assert_allclose(each.arrays[0], mu, atol=1e-14)


@pytest.mark.parametrize(("n", "lines"), CASES)
def test_advance_is_the_steps_one_by_one(n: int, lines: int) -> None:
    """The penalty is balanced after the 25th of 27."""
    generator = np.random.default_rng(n)
    model, iterate = random_model(generator, n, lines), random_iterate(generator, n)
    other = copy.deepcopy(iterate)
    relaxation.advance(model, iterate, 1.5, 27)
    G, residuals = np.empty((n + 1, n + 1)), np.zeros(2)
    for k in range(1, 28):
        relaxation.gather(model, other, G)
        relaxation.project(G, other.arrays[-1])
        relaxation.scatter(model, other, residuals)
        if k == relaxation.BALANCE_PERIOD:
            relaxation.rebalance(model, other, 1.5, residuals)
            assert_array_equal(residuals, 0.0)
    assert_array_equal(state(iterate), state(other))


@pytest.mark.parametrize(
    ("residuals", "factor"), [((9.0, 1.0), 2.0), ((1.0, 9.0), 0.5), ((1.0, 1.0), 1.0)]
)
def test_a_new_penalty_rescales_the_multipliers_and_keeps_z(
    residuals: tuple[float, float], factor: float
) -> None:
    generator = np.random.default_rng(3)
    model, iterate = random_model(generator, 5, 0), random_iterate(generator, 5)
    binary = model.arrays[2]

    def parts() -> tuple[Array, Array]:
        pairs, ends, squares, corner, cut, kinds, _, _ = iterate.arrays
        V = plain.whole(pairs, ends, squares, corner[0], 1.7)
        shift = plain.whole(cut, 0.0 * ends, 0.0 * squares, 0.0, 1.7)
        Z = plain.nonnegative(V, shift, binary, 1.7)
        mu = [each.arrays[0] for each in kinds]
        return Z, np.concatenate([(V - Z).ravel(), cut.ravel(), *mu])

    Z, multipliers = parts()
    relaxation.rebalance(model, iterate, 2.0, np.array(residuals))
    new_Z, new_multipliers = parts()
    assert iterate.arrays[-2][0] == 0.4 * factor
    assert_allclose(new_Z, Z, atol=1e-15)
    assert_allclose(new_multipliers, multipliers / factor, atol=1e-15)


@pytest.mark.parametrize("n", [0, 2, 3, 6])
def test_all_violated_triangle_inequalities_are_found(n: int) -> None:
    generator, count = np.random.default_rng(n), n * (n - 1) // 2
    pairs, cut = generator.standard_normal((2, count, 4))
    Z = np.maximum(plain.whole(pairs + cut, np.zeros((n, 2)), np.zeros((n, 3)), 0.0, 1.0), 0.0)
    expected = {key: value for key, value in plain.triangles(Z, n).items() if value > 0.1}
    literals, violations = relaxation.most_violated(pairs, cut, n, 0.1, 1000)
    assert dict(zip(map(tuple, literals.tolist()), violations.tolist(), strict=True)) == expected
    literals, violations = relaxation.most_violated(pairs, cut, n, 0.1, 10)
    assert min(len(expected), 1) <= len(literals) <= 10
    for key, value in zip(map(tuple, literals.tolist()), violations, strict=True):
        assert expected[key] == value


@pytest.mark.parametrize("least", [-np.inf, 0.5])
@pytest.mark.parametrize("size", [3, 5, 7])
def test_violated_odd_cliques_are_found(size: int, least: float) -> None:
    """Random moments are far from ties, so that the same literals are chosen everywhere."""
    generator = np.random.default_rng(0)
    D = generator.uniform(-1.0, 1.0, (9, 9))
    D += D.T.copy()
    triples = np.array([[0, 3, 4], [1, 2, 12], [5, 7, 9], [13, 10, 8], [16, 1, 5]])
    found, violations = relaxation.violated_odd_cliques(D, triples, size, least)
    expected = [plain.odd_clique(D, each, size) for each in triples.tolist()]
    values = [plain.clique_violation(D, each) for each in expected]
    assert found.tolist() == [
        each for each, value in zip(expected, values, strict=True) if value > least
    ]
    assert_allclose(violations, [value for value in values if value > least], rtol=1e-12)


def test_literals_of_odd_cliques_are_refused_by_name() -> None:
    D = np.eye(5)
    for triples, size, name in (
        ([[0, 2, 4]], 4, "size"),
        ([[0, 2, 4]], 7, "size"),
        ([[0, 2, 4, 6, 8]], 3, "size"),
        ([[0, 1, 4]], 5, "sets"),
        ([[0, 2, 10]], 5, "sets"),
    ):
        with pytest.raises(ProblemError, match=f"^{name}: "):
            relaxation.violated_odd_cliques(D, np.array(triples), size, 0.0)


@pytest.mark.parametrize(("k", "n"), [(0, 3), (1, 1), (2, 6), (4, 9)])
def test_a_box_is_cut_by_rows(k: int, n: int) -> None:
    generator = np.random.default_rng(n)
    rows = generator.standard_normal((k, n)) * (generator.random((k, n)) < 0.7)
    lower, upper = -generator.random((2, n)) * [[1.0], [-1.0]]
    rhs = rows @ (0.95 * upper + 0.05 * lower)
    given = rhs, lower, upper, 1e-12, 1e-300
    found = conditions.cut_by_rows(conditions.Equations(rows, rhs), *given[1:])
    assert_allclose(found, plain.cut_by_rows(rows, *given), atol=1e-14 * n)
    assert k < 2 or np.any(found[0] > lower)


def test_a_box_without_ends_is_refused() -> None:
    """From infinite ends the formula computes inf - inf."""
    equations = conditions.Equations(np.ones((1, 2)), np.ones(1))
    for name in ("lower", "upper"):
        box = {"lower": np.zeros(2), "upper": np.ones(2)}
        box[name][1] = np.inf
        with pytest.raises(ProblemError, match=f"^{name}: expected finite numbers"):
            conditions.cut_by_rows(equations, **box, share=0.0, tiny=0.0)


def test_copies_and_pickles_have_arrays_of_their_own() -> None:
    generator = np.random.default_rng(0)
    model, iterate = random_model(generator, 6, 1), random_iterate(generator, 6)
    before = state(iterate)
    others = [copy.deepcopy(iterate), pickle.loads(pickle.dumps(iterate))]
    for other in others:
        relaxation.advance(pickle.loads(pickle.dumps(model)), other, 1.5, 30)
    assert_array_equal(state(iterate), before)
    relaxation.advance(model, iterate, 1.5, 30)
    for other in others:
        assert_array_equal(state(other), state(iterate))


def test_a_matrix_without_eigenvalues_is_an_error() -> None:
    """The lower triangle too: LAPACK would not look at it."""
    for place in ((0, 1), (1, 0)):
        G = np.eye(3)
        G[place] = np.inf
        with pytest.raises(np.linalg.LinAlgError, match="not finite"):
            relaxation.project(G, np.eye(3))
    generator = np.random.default_rng(0)
    model, iterate = random_model(generator, 3, 0), random_iterate(generator, 3)
    iterate.arrays[1][0, 0] = np.inf
    with pytest.raises(np.linalg.LinAlgError, match="not finite"):
        relaxation.advance(model, iterate, 1.5, 2)


SQUARE, NAN = np.eye(3), np.full((3, 3), np.nan)
MODEL: dict[str, Any] = {
    "cost": SQUARE, "lines": np.zeros((0, 3)), "binary": np.zeros(2, bool), "omega": 1.0,
    "balance": 1.0,
}  # fmt: skip
INEQUALITIES: dict[str, Any] = {
    "multipliers": np.zeros(1), "places": np.zeros((1, 3), np.int64), "signs": np.ones(3),
    "least": 0.0,
}  # fmt: skip
KINDS = tuple(relaxation.Inequalities(**INEQUALITIES) for _ in range(3))
ITERATE: dict[str, Any] = {
    "pairs": np.zeros((1, 4)), "ends": np.zeros((2, 2)), "squares": np.zeros((2, 3)),
    "corner": np.ones(1), "cut": np.zeros((1, 4)), "kinds": KINDS, "penalty": np.ones(1),
    "U": SQUARE,
}  # fmt: skip
GIVEN: list[tuple[Callable[..., Any], dict[str, Any]]] = [
    (relaxation.Model, MODEL),
    (relaxation.Inequalities, INEQUALITIES),
    (relaxation.Iterate, ITERATE),
    (relaxation.spread, {
        **{name: ITERATE[name] for name in ("pairs", "ends", "squares")},
        "corner": 1.0, "omega": 1.0, "G": np.eye(3),
    }),
    (relaxation.project, {"G": SQUARE, "U": np.eye(3)}),
    (relaxation.most_violated, {
        "pairs": np.zeros((1, 4)), "cut": np.zeros((1, 4)), "n": 2, "least": 0.0, "most": 5,
    }),
    (relaxation.violated_odd_cliques, {
        "D": SQUARE, "sets": np.array([[0, 2, 4]]), "size": 3, "least": 0.0,
    }),
    (conditions.Equations, {"rows": np.ones((2, 3)), "rhs": np.ones(2)}),
    (conditions.cut_by_rows, {
        "equations": conditions.Equations(np.ones((2, 3)), np.ones(2)), "lower": np.zeros(3),
        "upper": np.ones(3), "share": 0.0, "tiny": 0.0,
    }),
]  # fmt: skip


CHANGED = {
    (relaxation.Inequalities, "multipliers"), (relaxation.spread, "G"), (relaxation.project, "U"),
    *((relaxation.Iterate, name) for name in ITERATE),
}  # fmt: skip
"""What is written before it is read, or looked at when it is read."""


@pytest.mark.parametrize(("function", "arguments"), GIVEN)
def test_wrong_arguments_are_refused_by_name(
    function: Callable[..., Any], arguments: dict[str, Any]
) -> None:
    function(**arguments)
    for name, value in arguments.items():
        wrong: list[Any] = [np.nan] if isinstance(value, float) else []
        if isinstance(value, np.ndarray):
            wrong = [None, value.astype(np.float32), value[..., None], np.repeat(value, 4)[::2]]
            if value.dtype == float and value.size and (function, name) not in CHANGED:
                wrong.append(np.full_like(value, np.nan))
        for other in wrong:
            with pytest.raises(ProblemError, match=f"^{name}: "):
                function(**{**arguments, name: other})


def test_nan_read_only_arrays_and_foreign_places_are_refused() -> None:
    generator = np.random.default_rng(0)
    model, iterate = random_model(generator, 3, 0), random_iterate(generator, 3)
    with pytest.raises(ProblemError, match=r"^model: expected a model of 3 variables"):
        relaxation.advance(random_model(generator, 4, 0), iterate, 1.5, 1)
    with pytest.raises(ProblemError, match=r"^change: "):
        relaxation.advance(model, iterate, 0.0, 1)
    names = ("pairs", "ends", "squares", "corner", "cut")
    for name, array in zip(names, iterate.arrays[:5], strict=True):
        before, array.flat[0] = array.flat[0], np.nan
        for run in (relaxation.gather, relaxation.scatter):
            out = np.empty((4, 4)) if run is relaxation.gather else np.zeros(2)
            with pytest.raises(ProblemError, match=f"^{name}: expected numbers, got NaN"):
                run(model, iterate, out)
        array.flat[0] = before
    fixed = np.zeros((1, 4))
    fixed.flags.writeable = False
    with pytest.raises(ProblemError, match=r"^cut: .*writable"):
        relaxation.Iterate(**{**ITERATE, "cut": fixed})
    beyond = relaxation.Inequalities(**{**INEQUALITIES, "places": np.array([[0, 1, 4]])})
    with pytest.raises(ProblemError, match=r"^places: expected indices from 0 to 3"):
        relaxation.Iterate(**{**ITERATE, "kinds": (beyond, KINDS[1])})


def test_odd_cliques_have_each_variable_once_where_products_are_zero() -> None:
    D = np.eye(7)
    D[:3, :3] = -0.5
    D[range(3), range(3)] = 1.0
    cliques, _ = relaxation.violated_odd_cliques(D, np.array([[0, 2, 4]]), 5, -10.0)
    assert len(cliques) == 1
    assert len(set((cliques[0] // 2).tolist())) == 5
