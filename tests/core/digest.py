"""The numbers of all loops that call no BLAS, on inputs that every machine makes alike.

`python tests/core/digest.py` prints a digest of each theme; INDEFINITE_OPT_CORE chooses the build.
Draws of numpy's uniform numbers and their sums of two are exact everywhere.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import numpy as np

from indefinite_opt.core import descent, distances, norms, perturbation

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
    left, right = (distances.distances(each, np.zeros((1, 21)), True) for each in (X, Z))
    found = 0.25 * uniform(9, 300, seed=2)
    distances.squares_from_products(X, Z, left[:, 0].copy(), right[:, 0].copy(), found)
    yield found
    yield from norms.row_norms(uniform(7, 50))


def digests() -> dict[str, str]:
    themes = {"descents": descents(), "points": points()}
    found = {}
    for theme, arrays in themes.items():
        digest = hashlib.sha256()
        for array in arrays:
            digest.update((array + 0.0 if array.dtype == np.float64 else array).tobytes())
        found[theme] = digest.hexdigest()[:16]
    return found


if __name__ == "__main__":
    print(digests())
