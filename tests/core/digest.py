"""The numbers of all loops that call no BLAS, on inputs that every machine makes alike.

`python tests/core/digest.py` prints a digest of each theme; INDEFINITE_OPT_CORE chooses the build.
Draws of numpy's uniform numbers and their sums of two are exact everywhere.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import numpy as np

from indefinite_opt.core import (
    active_set,
    conditions,
    descent,
    distances,
    exponential,
    norms,
    perturbation,
    rank_one,
    relaxation,
    symmetry,
)

Array = np.ndarray


def uniform(*shape: int, seed: int = 0) -> Array:
    return 2.0 * np.random.default_rng(seed).random(shape) - 1.0


def program(n: int, groups: int, alone: bool) -> descent.PairProgram:
    """A random indefinite one, whose weights are in some constraints, or partly in none."""
    A = uniform(n, n, seed=n)
    K, y = A + A.T, np.resize([1.0, -1.0, -1.0], n)
    group = np.arange(n) % (groups + alone)
    ends = np.zeros(n), np.full(n, 2.0)
    return descent.PairProgram(K, np.diagonal(K).copy(), 1.0, y, group, groups, *ends)


def descents() -> Iterator[Array]:
    for n, groups, alone in ((60, 1, False), (61, 3, False), (77, 2, True), (40, 0, True)):
        at = program(n, groups, alone)
        v = np.where(at.y > 0.0, 1.0, -1.0) + 0.5 * uniform(n, seed=groups)
        for rule in (descent.SECOND_ORDER, descent.FIRST_ORDER, descent.LIBSVM):
            if rule == descent.LIBSVM and not at.tied:
                continue
            point = descent.DescentPoint(np.zeros(n), v.copy())
            yield np.array(descent.pair_steps(at, point, rule, 1e-9, 10_000, np.inf))
            yield from (point.alpha, point.v)
        point = descent.DescentPoint(np.zeros(n), v.copy())
        outcome, offset, blocks = descent.block_steps(at, point, 1e-9, 16, 3, 10_000, np.inf)
        yield np.array([*outcome, offset, blocks])
        yield from (point.alpha, point.v)
        plan = perturbation.PerturbationPlan(40, n // 3, 0.05, 1e-6, 10**6, np.inf)
        state = np.array([n], np.uint64)
        yield np.array(perturbation.perturb(at, point, -at.y * v, plan, state))
        yield from (point.alpha, point.v, state)


def points() -> Iterator[Array]:
    X, Z = uniform(9, 21), uniform(300, 21, seed=1)
    Z[:5] = X[:5] + 1e-3 * Z[:5]
    yield from (distances.distances(X, Z, squared) for squared in (True, False))
    X, Z = np.round(64.0 * X), np.round(64.0 * Z)  # of integers every product is exact
    left, right = (np.square(each).sum(axis=1) for each in (X, Z))
    yield distances.squares_by_products(X, Z, left, right)
    yield from norms.row_norms(uniform(7, 50))
    yield exponential.exp(uniform(7, 50), 750.0)


def relaxations() -> Iterator[Array]:
    n = 9
    count = n * (n - 1) // 2
    cost = uniform(n + 1, n + 1)
    lines = np.sqrt(np.full((1, n + 1), 1.0 / (n + 1)))
    model = relaxation.Model(cost + cost.T, lines, np.arange(n) % 3 == 0, 1.5, 1.25)
    places = np.random.default_rng(1).integers(4 * count, size=(8, 4))
    kinds = [
        relaxation.Inequalities(uniform(8, seed=2), places[:, :size].copy(), np.ones(size), least)
        for size, least in ((3, 0.0), (4, 1.0))
    ]
    shapes = (count, 4), (n, 2), (n, 3), (1,), (count, 4)
    parts = [uniform(*shape, seed=k) for k, shape in enumerate(shapes)]
    U, G, residuals = uniform(n + 1, n + 1, seed=9), np.empty((n + 1, n + 1)), np.zeros(2)
    U = U + U.T
    iterate = relaxation.Iterate(*parts, (kinds[0], kinds[1]), np.array([0.5]), U)
    for _ in range(3):
        relaxation.scatter(model, iterate, residuals)
        yield residuals.copy()
        relaxation.rebalance(model, iterate, 1.25, residuals)
        relaxation.gather(model, iterate, G)
        yield from (G.copy(), *(part.copy() for part in parts))
    yield from relaxation.most_violated(parts[0], parts[4], n, 0.1, 50)
    D = U[1:, 1:].copy()
    yield from relaxation.violated_odd_cliques(D, np.array([[4, 2, 0], [13, 8, 3]]), 5, 0.1)


def roots() -> Iterator[Array]:
    values, u = np.sort(uniform(31)), uniform(40, seed=1)
    poles = rank_one.Poles(values, np.sort(np.arange(40) % 31))
    for epsilon in (0.0, 0.25):
        change, product = rank_one.positive_part(u, poles, 0.5, epsilon)
        yield from (np.array([change]), product)
    yield from rank_one.solve_roots(values, np.square(u[:31]))


def cuts() -> Iterator[Array]:
    equations = conditions.Equations(uniform(4, 11), uniform(4, seed=1))
    yield from conditions.cut_by_rows(equations, np.zeros(11), np.ones(11), 1e-15, 1e-300)


def active_sets() -> Iterator[Array]:
    for n, m, shift in ((13, 5, 0.0), (24, 12, 9.0)):
        A, R, x = uniform(n, n, seed=n), uniform(m, n, seed=m), uniform(n, seed=1)
        P = A + A.T + shift * np.eye(n)
        ends = np.ones(n + m)
        ends[n:] = np.where(np.arange(m) % 3 == 0, 0.0, 4.0 * n)
        x[:] = 0.0  # which holds all rows, of which a third are equations
        program = active_set.Quadratic(P, 4.0 * uniform(n, seed=2), R, -ends, ends)
        state = active_set.State(program, x, 5)
        active_set.factorise(program, state, True)
        for _ in range(20):
            yield np.array([active_set.advance(program, state, 3)])
            yield from (state.values.copy(), state.gradient.copy(), state.slot.copy())
        yield from (state.basis, np.triu(state.T), np.tril(state.L))


def squares() -> Iterator[Array]:
    for n in (1, 63, 130):
        K = uniform(n, n, seed=n)
        for each in (K, K.astype(np.float32), K + K.T):
            found = symmetry.scan(each, digested=True)
            yield np.array([found.least, found.most])
            yield np.array([found.finite, found.symmetric, found.digest], np.uint64)


def digests() -> dict[str, str]:
    themes = {
        "active sets": active_sets(), "cuts": cuts(), "descents": descents(),
        "points": points(), "relaxations": relaxations(), "roots": roots(),
        "squares": squares(),
    }  # fmt: skip
    found = {}
    for theme, arrays in themes.items():
        digest = hashlib.sha256()
        for array in arrays:
            digest.update((array + 0.0 if array.dtype == np.float64 else array).tobytes())
        found[theme] = digest.hexdigest()[:16]
    return found


if __name__ == "__main__":
    print(digests())
