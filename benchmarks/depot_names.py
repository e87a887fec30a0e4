"""Which problems the depot has; `regenerate_depot.py` computes its table, a row for each."""

from __future__ import annotations

BOX_SIZES = {
    20: (100,),
    30: (60, 70, 80, 90, 100),
    40: (30, 40, 50, 60, 70, 80, 90, 100),
    50: (30, 40, 50),
    60: (20,),
    **dict.fromkeys((70, 80, 90, 100, 125), (25, 50, 75)),
}
"""Densities of the box-constrained programs by n, with seeds 1 to 3 each: the numbers of the 99
public instances of Vandenbussche and Nemhauser (2005) and their sequels."""

LARGE = (
    "clique-johnson-9-4-6",
    *(
        f"boxqp-{n}-{density}-{seed}"
        for n in (150, 200)
        for density in (25, 50, 75)
        for seed in (1, 2, 3)
    ),
)
"""More of the families below with over 125 variables, which only benchmarks solve."""

RANDOM: dict[str, tuple[str, ...]] = {
    "boxqp": tuple(
        f"boxqp-{n}-{density}-{seed}"
        for n, densities in BOX_SIZES.items()
        for density in densities
        for seed in (1, 2, 3)
    ),
    "clique": tuple(
        f"clique-{name}"
        for name in (
            "johnson-8-2-4", "johnson-7-3-4", "johnson-8-3-4", "johnson-9-3-4", "johnson-8-4-4",
            "johnson-10-2-4",
            "hamming-5-3", "hamming-6-2", "hamming-6-3", "hamming-6-4",
            "keller-2", "keller-3", "turan-50-7", "turan-100-30", "paley-5", "paley-7",
            "triangular-10", "triangular-14", "lattice-7", "lattice-10",
            "cyclejoin-6-5", "cyclejoin-10-5", "cyclejoin-20-5", "cyclejoin-8-7",
        )
    ),
    "stqp": tuple(
        f"stqp-{n}-{density}-1" for n in (30, 50, 70, 100) for density in (25, 50, 75, 90)
    ),
    "rowqp": tuple(
        f"rowqp-{n}-{n // 2 - n // 4}-{n // 4}-{density}-{seed}"
        for n in (20, 30, 40, 50)
        for density in (25, 50, 75, 100)
        for seed in (1, 2, 3, 4)
    ),
    "maxcut": tuple(f"maxcut-{n}-{density}-1" for n in (20, 40, 60) for density in (50, 90)),
    "spinglass": ("spinglass-5-5-1", "spinglass-8-8-1", "spinglass-10-10-1"),
    "bilinear": ("bilinear-10-10-5-1", "bilinear-20-20-10-1", "bilinear-30-30-15-1"),
    "jointbilinear": ("jointbilinear-10-10-10-1", "jointbilinear-20-20-20-1"),
    "concave": ("concave-20-10-5-1", "concave-30-15-10-1", "concave-40-20-40-1"),
    "transportation": ("transportation-4-5-1", "transportation-6-8-1"),
    "portfolio": ("portfolio-30-5-1", "portfolio-60-10-1", "portfolio-100-10-1"),
    "blending": ("blending-4-2-3-1", "blending-6-3-4-1"),
}  # fmt: skip
"""Names by family. The sizes of `rowqp`, n variables and n/2 rows, are those of the random
instances of Chen and Burer (2012)."""

GRID = (
    "sigmoid", "l1-gaussian", "epanechnikov", "simpson", "polynomial", "pseudo-euclidean",
    "chebyshev-linear", "chebyshev-gaussian", "cityblock-raw", "random",
)  # fmt: skip
"""The kernels that come in every size, all of them indefinite."""

SIZES = (10, 20, 40, 60, 80, 100)

KERNELS = (
    # C alternates along rows and columns of the grid, so as not to depend on n or the kernel.
    *(
        f"{kernel}-{n:03d}-c{(1, 10)[(row + column) % 2]}"
        for row, kernel in enumerate(GRID)
        for column, n in enumerate(SIZES)
    ),
    "sigmoid-040-c1-nobias", "sigmoid-060-c100", "sigmoid-040-hull", "simpson-060-hull",
    "chebyshev-linear-080-hull", "l1-gaussian-040-guo", "epanechnikov-060-guo",
    "polynomial-080-guo", "gaussian-040-c10", "gaussian-100-c1", "linear-020-c1", "linear-060-c10",
    "minus-identity-020-c1", "lemma4-017-c1", "lemma4-033-c1", "lemma4-065-c10", "paley-014-guo",
    "paley-038-guo", "paley-062-guo", "tl1-040-c10",
    "lemma4-005-c1", "lemma4-009-c10", "words-linear-010-c1", "words-linear-020-c1",
    "words-linear-020-hull", "words-gaussian-020-c1", "words-gaussian-020-c10",
    "grid-sigmoid-016-c1", "grid-sigmoid-036-c10", "grid-sigmoid-064-c1",
    "grid-epanechnikov-016-c10", "grid-epanechnikov-036-c1", "grid-epanechnikov-064-c1",
    "grid-tl1-016-c1", "grid-tl1-036-c10", "grid-tl1-036-c1-nobias", "grid-multiquadric-016-c1",
    "grid-multiquadric-036-hull", "grid-l1-gaussian-016-c1", "grid-l1-gaussian-036-c10",
    "grid-l1-gaussian-036-guo",
)  # fmt: skip
"""The duals of support vector machines. Those outside the grid are convex controls and kernels
built to have a known optimum, or have no random numbers."""

LINEAR = """
kleeminty-3 kleeminty-5 kleeminty-8 kleeminty-12 beale kuhn marshallsuurballe chvatal
assignment-4-5 assignment-5-7 assignment-6-7 assignment-7-11 assignment-8-13 assignment-10-11
transport-3-4-5 transport-4-6-7 transport-5-8-11 transport-6-10-13 transport-8-12-7
minimax-2 minimax-3 minimax-5 minimax-8 minimax-12
l1fit-8-7 l1fit-12-11 l1fit-20-13 l1fit-40-17 gridflow-3-3-5 gridflow-4-5-7 gridflow-6-6-11
gridflow-7-8-13 pennies-2 pennies-5 pennies-12 pennies-40 stones-3 stones-5 stones-11
knapsack-6-7 knapsack-15-11 knapsack-50-31 octahedron-3 octahedron-5 octahedron-7
ties-2 ties-6 ties-30 randomlp-20-8-4-1 randomlp-30-12-6-2 randomlp-50-20-10-3 randomlp-100-40-20-4
"""

CONVEX = """
hs21 hs35 hs51 hs52 hs53 hs76 hs118 hs268
hilbert-2 hilbert-3 hilbert-4 hilbert-5 hilbert-6 hilbertbox-3 hilbertbox-5
obstacle-8 obstacle-20 obstacle-40 obstacle-80 torsion-4 torsion-6 torsion-8 torsion-10
mpc-8 mpc-15 mpc-25 mpc-40 isotonic-10-7 isotonic-25-13 isotonic-50-29 isotonic-100-41
markowitz-3 markowitz-10 markowitz-30 markowitz-100 frontier-10-7 frontier-25-11 frontier-60-29
projsimplex-5-7 projsimplex-20-11 projsimplex-60-31 projsimplex-120-53
birkhoff-3-5 birkhoff-4-7 birkhoff-6-11 birkhoff-9-13
nnls-8-5-11 nnls-15-10-17 nnls-30-20-37 nnls-60-40-61 lasso-8-5-11 lasso-15-10-17 lasso-20-30-37
moments-5-2 moments-12-3 moments-30-4 minnorm-2 minnorm-8 minnorm-30 minnorm-100
faraway-3 faraway-30 cancel-2-2 cancel-5-3 cancel-10-4 cancel-20-5 flat-3 flat-12 flat-60
corner-3 corner-5 corner-7
randomconvex-20-8-4-10-1 randomconvex-30-10-5-30-2 randomconvex-50-20-10-25-3
randomconvex-80-20-20-80-4 randomconvex-100-40-20-20-5
"""

NONCONVEX = """
clique-petersen clique-kneser-6-2 clique-kneser-7-2 clique-kneser-8-3 clique-kneser-9-2
clique-cycle-5 clique-cycle-9 clique-cycle-30 clique-complete-6 clique-complete-40
clique-torus-4-5 clique-torus-7-7 clique-mobius-4 clique-mobius-15 clique-hypercube-4
clique-hypercube-6 clique-wheel-5 clique-wheel-24 clique-bipartite-4-7 clique-turan-13-4
clique-turan-30-10 clique-turan-60-5 clique-lattice-3 clique-lattice-5 clique-triangular-6
clique-triangular-8 clique-triangular-12 clique-paley-3 clique-johnson-6-2-4 clique-johnson-7-2-4
clique-johnson-6-3-4 clique-johnson-12-2-4 clique-johnson-9-3-6 clique-hamming-4-2
clique-hamming-5-2 clique-hamming-5-4 clique-hamming-4-3 clique-cyclejoin-2-5 clique-cyclejoin-3-7
clique-cyclejoin-4-5 clique-cyclejoin-5-9 clique-cyclejoin-15-7
packing-petersen packing-cycle-7 packing-cycle-20 packing-kneser-6-2 packing-kneser-7-2
packing-turan-12-5 packing-turan-40-8 packing-lattice-4 packing-lattice-6 packing-triangular-7
packing-cyclejoin-3-5 packing-cyclejoin-6-5 packing-hamming-5-3 packing-johnson-7-3-4
packing-johnson-8-2-4 packing-paley-5 packing-torus-5-5 packing-mobius-6 packing-hypercube-4
cut-petersen cut-cycle-5 cut-cycle-8 cut-cycle-15 cut-cycle-50 cut-complete-5 cut-complete-8
cut-complete-13 cut-complete-20 cut-mobius-4 cut-mobius-5 cut-mobius-8 cut-mobius-12 cut-torus-3-3
cut-torus-3-5 cut-torus-5-5 cut-torus-4-6 cut-torus-5-7 cut-wheel-4 cut-wheel-5 cut-wheel-9
cut-wheel-16 cut-hypercube-3 cut-hypercube-5 cut-bipartite-3-5 cut-bipartite-10-10
cut-circulant-9-2 cut-circulant-11-3 cut-circulant-13-5 cut-circulant-20-4 cut-circulant-30-7
cut-kneser-6-2 cut-kneser-7-3 cut-paley-3 cut-lattice-4 cut-triangular-6
hadamard-1 hadamard-2 hadamard-3 ring-3 ring-6 ring-11 ring-40
separable-6-7 separable-20-11 separable-60-31 separable-120-53
modular-6-5 modular-8-7 modular-10-11 modular-15-7 modular-20-13 modular-25-17 modular-30-31
modular-40-11 modularrows-6-5-2 modularrows-10-7-3 modularrows-12-13-4 modularrows-15-11-5
modularrows-20-17-5 modularrows-25-11-6 modularsimplex-6-5 modularsimplex-10-7
modularsimplex-15-11 modularsimplex-20-13 modularsimplex-30-31 modularsimplex-50-23
hs44 horn hoffmanpereira hildebrand-1 hildebrand-2 hildebrand-3 hildebrand-4 hildebrand-5
nash-2-3 nash-3-5 nash-4-7 nash-5-11 nash-6-13 partition-3 partition-4 partition-7 partition-8
partition-11 partition-15 oddsum-3 oddsum-6 oddsum-9 oddsum-12 qap-3-5 qap-3-7 qap-4-7 qap-4-11
floudas-1 floudas-2 floudas-3 floudas-4 floudas-5 floudas-6 floudas-7 floudas-8 floudas-9
floudas-10
"""

WITHOUT_OPTIMUM = """
falllinear-2 falllinear-10 falllinear-60 falledge-3 falledge-20 fallflat-3 fallflat-25 fallrows-4
fallrows-30 fallsaddle-2 fallsaddle-12 fallorthant-3 fallorthant-20 fallbilinear-1 fallbilinear-10
fallcone-3 fallcone-15
chain-3-3-0 chain-10-3-1 chain-8-3-2 chain-5-9-0 chain-20-9-1 chain-6-9-2 parity-4-0 parity-10-1
parity-8-2 overfull-3-3-0 overfull-20-3-1 overfull-10-3-2 overfull-4-9-0 overfull-12-9-2
crossed-3-0 crossed-7-1 crossed-5-2
"""

UNITS = """
units-1-kleeminty-5 units-2-assignment-5-7 units-3-transport-3-4-5 units-2-pennies-5 units-3-beale
units-1-hs118 units-2-hs76 units-3-hs35 units-1-mpc-8 units-2-projsimplex-20-11
units-3-torsion-4 units-2-nnls-8-5-11 units-1-boxqp-20-100-1 units-2-boxqp-20-100-2
units-3-boxqp-20-100-3 units-2-cut-petersen units-3-modular-10-11 units-1-rowqp-20-5-5-25-1
units-2-rowqp-20-5-5-50-2 units-3-rowqp-20-5-5-75-3 units-2-floudas-1 units-3-floudas-5
units-2-hs44 units-1-clique-petersen units-1-isotonic-10-7 units-2-cancel-5-3
"""


def names() -> list[str]:
    """Every name of the depot, in the order of the table."""
    random = [name for members in RANDOM.values() for name in members]
    texts = LINEAR, CONVEX, NONCONVEX, WITHOUT_OPTIMUM, UNITS
    return [*KERNELS, *random, *(name for text in texts for name in text.split())]
