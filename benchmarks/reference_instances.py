"""Which instances the reference library has: a grid of kernels and sizes, and programs by name.

The table of the package has a row for each; `regenerate_references.py` computes it.
"""

from __future__ import annotations

from functools import cache

from indefinite_opt.quadratic import QuadraticProgram, names
from indefinite_opt.studies.reference_library import Instance

LIBRARY = 3
"""Version of the library, raised when an instance is added, removed or redefined."""

KERNELS = {
    "sigmoid": "sigmoid(a=1, r=-1)",
    "l1-gaussian": "l1-gaussian(gamma=0.02)",
    "epanechnikov": "epanechnikov(gamma=0.15)",
    "simpson": "simpson(threshold=0)",
    "polynomial": "polynomial(degree=3, gamma=0.5, r=-1)",
    "pseudo-euclidean": "pseudo-euclidean(p=2)",
    "chebyshev-linear": "distance(distance=chebyshev, form=linear)",
    "chebyshev-gaussian": "distance(distance=chebyshev, form=gaussian, gamma=0.3)",
    "cityblock-raw": "distance(distance=cityblock, form=raw)",
    "random": "random-symmetric",
    "gaussian": "gaussian(gamma=0.2)",
    "linear": "linear",
    "minus-identity": "minus-identity",
    "lemma4": "haasdonk-lemma4",
    "paley": "paley-graph",
    "tl1": "tl1(rho=5.6)",
}
"""Families and the names of their kernels in the table. Where the matrix is built directly, the
name is not that of a kernel function."""

SIZES = (10, 20, 40, 60, 80, 100)
GRID = tuple(KERNELS)[:10]
"""The families that come in every size, all of them indefinite."""

EXTRAS = (
    ("sigmoid", 40, "c1-nobias", "SVMDual(C=1, bias=False)"),
    ("sigmoid", 60, "c100", "SVMDual(C=100)"),
    ("sigmoid", 40, "hull", "ConvexHullDual(mu=0.5)"),
    ("simpson", 60, "hull", "ConvexHullDual(mu=0.5)"),
    ("chebyshev-linear", 80, "hull", "ConvexHullDual(mu=0.2)"),
    ("l1-gaussian", 40, "guo", "GuoSchuurmansQP(beta=0.1)"),
    ("epanechnikov", 60, "guo", "GuoSchuurmansQP(beta=0.1)"),
    ("polynomial", 80, "guo", "GuoSchuurmansQP(beta=0.05)"),
    ("gaussian", 40, "c10", "SVMDual(C=10)"),
    ("gaussian", 100, "c1", "SVMDual(C=1)"),
    ("linear", 20, "c1", "SVMDual(C=1)"),
    ("linear", 60, "c10", "SVMDual(C=10)"),
    ("minus-identity", 20, "c1", "SVMDual(C=1)"),
    ("lemma4", 17, "c1", "SVMDual(C=1)"),
    ("lemma4", 33, "c1", "SVMDual(C=1)"),
    ("lemma4", 65, "c10", "SVMDual(C=10)"),
    ("paley", 14, "guo", "GuoSchuurmansQP(beta=0.5)"),
    ("paley", 38, "guo", "GuoSchuurmansQP(beta=0.5)"),
    ("paley", 62, "guo", "GuoSchuurmansQP(beta=0.5)"),
    ("tl1", 40, "c10", "SVMDual(C=10)"),
)
"""Family, n, end of the name, formulation. The families outside the grid are convex controls and
instances built to have a known optimum."""

MAX_VARIABLES = 125
"""Largest number of variables of the programs of the suite that have rows here: up to it all but a
few brackets close in a minute."""


def instances() -> list[Instance]:
    """Every instance of the library, in the order of the table."""
    # C alternates along rows and columns of the grid, so as not to depend on n or the kernel.
    grid = [
        (family, n, f"c{C}", f"SVMDual(C={C})")
        for row, family in enumerate(GRID)
        for column, n in enumerate(SIZES)
        for C in [(1, 10)[(row + column) % 2]]
    ]
    kernels = [
        Instance(f"{family}-{n:03d}-{end}", KERNELS[family], n, seed, title)
        for family, n, end, title in (*grid, *EXTRAS)
        # Every family and size has a seed of its own; graphs and cubes draw nothing.
        for drawn in [family not in ("lemma4", "paley")]
        for seed in [drawn * (1000 * (1 + list(KERNELS).index(family)) + n)]
    ]
    return kernels + [Instance(name, "", n, 0, "") for name, n in _programs().items()]


@cache
def _programs() -> dict[str, int]:
    """The names of programs of the suite that are not too large, and their numbers of variables."""
    sizes = {name: QuadraticProgram.read(name).n for name in names()}
    return {name: n for name, n in sizes.items() if n <= MAX_VARIABLES}
