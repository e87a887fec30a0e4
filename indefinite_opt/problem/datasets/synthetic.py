"""The class of data sets, and generators of data sets with known properties.

Haasdonk (2005) draws his examples without coordinates; those here are constructed to have the
properties that he states, which the docstrings repeat. For some of them every local optimum of the
SVM dual

    maximize  sum(alpha) - 1/2 alpha^T Q alpha   subject to  0 <= alpha <= C, y^T alpha = 0

is known. The proofs use the following: with S the sum of alpha over one class and z+, z- the points
of the two convex hulls with weights alpha / S, the objective is

    2 S - 1/2 S^2 d^2,        d^2 = <z+ - z-, z+ - z->,

so that, where no bound C is active, a local maximum is a local minimum of d^2 over the weights
together with S = 2 / d^2, and its objective is 2 / d^2 as well.

References
----------
.. [H05] B. Haasdonk, Feature Space Interpretation of SVMs with Indefinite Kernels, IEEE
   Transactions on Pattern Analysis and Machine Intelligence 27(4), 2005.
.. [LOC] G. Loosli, C. S. Ong and S. Canu, SVM in Krein Spaces, 2013.
.. [DP] R. P. W. Duin and E. Pekalska, Non-Euclidean Dissimilarities: Causes and Informativeness,
   Structural, Syntactic and Statistical Pattern Recognition, 2010; their toolbox DisTools.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from indefinite_opt.errors import ParameterError, ProblemError
from indefinite_opt.foundation import Array, checks, labelled
from indefinite_opt.problem.datasets.encoding import Encoding, as_text
from indefinite_opt.problem.kernels import Kernel, L1Gaussian, PseudoEuclidean, Sigmoid

__all__ = [
    "Dataset",
    "balls",
    "checkerboard",
    "gaussians",
    "haasdonk_figure1a",
    "haasdonk_figure1c",
    "haasdonk_figure2d",
    "haasdonk_figure3",
    "haasdonk_figure4a",
    "haasdonk_figure4b",
    "haasdonk_lemma4",
]

Labels: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Dataset:
    """Points, or objects with their similarities or distances, and their labels or targets.

    Exactly one of X, K and D is given.

    Parameters
    ----------
    name : str
    y : (n,) array, optional
        Labels of two or more classes (two classes mostly have -1 and 1), real targets, or None.
    X : (n, d) array, optional
        Features.
    K : (n, n) array, optional
        Symmetric similarities.
    D : (n, n) array, optional
        Symmetric distances.
    description : str
        Where the data come from, and what was done to them.
    classes : tuple of str
        Names of the classes, in the sorting order of their labels: what -1 and 1 stand for. By
        default the labels themselves; empty for targets and without labels.
    feature_names : tuple of str
        One for each column of X, or empty.
    table : Encoding, optional
        What was used of the table that X comes from, and how later rows are encoded.
    names : tuple of str
        Names of the objects, or empty.
    kernel : Kernel, optional
        A kernel that the literature uses for X.
    scaling : str, optional
        A scaling of the features of X that suits the kernel; see `scaler`.
    optima : dict, optional
        All local optima of the SVM dual with `kernel`: "C", a float; "alpha", one optimum per row;
        and "objective", their values.

    Examples
    --------
    >>> data = Dataset("two points", np.array([1, -1]), X=np.array([[0.0], [1.0]]))
    >>> data.n, data.classes
    (2, ('-1', '+1'))
    >>> Dataset("three points", np.array(["b", "c", "a"]), K=np.eye(3))
    Dataset('three points', n=3, similarities, classes=('a', 'b', 'c'))
    """

    name: str
    y: Any = field(default=None, repr=False)
    X: Array | None = field(default=None, repr=False)
    K: Array | None = field(default=None, repr=False)
    D: Array | None = field(default=None, repr=False)
    description: str = ""
    classes: tuple[str, ...] = ()
    feature_names: tuple[str, ...] = field(default=(), repr=False)
    table: Encoding | None = field(default=None, repr=False)
    names: tuple[str, ...] = field(default=(), repr=False)
    kernel: Kernel | None = None
    scaling: str | None = None
    optima: dict[str, Any] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        given = [letter for letter in "XKD" if getattr(self, letter) is not None]
        if len(given) != 1:
            raise ProblemError("dataset", "exactly one of X, K, D", " and ".join(given) or "none")
        arrays = {given[0]: getattr(self, given[0])}
        if self.y is not None:
            arrays = {"y": self.y} | arrays
        for argument, array in arrays.items():
            if not isinstance(array, np.ndarray):
                raise ProblemError(argument, "an array", f"a {type(array).__name__}")
        shape = arrays[given[0]].shape
        if self.y is not None and self.y.ndim != 1:
            raise ProblemError("y", "a vector of labels", f"shape {self.y.shape}")
        if self.y is None and not shape:
            raise ProblemError(given[0], "a matrix", "shape ()")
        width = shape[-1:] if given[0] == "X" else (self.n,)
        if given[0] != "X" and len(shape) == 2 and shape[0] != shape[1]:
            raise ProblemError(given[0], "a square matrix", f"shape {shape}")
        if shape != (self.n, *width):
            raise ProblemError(given[0], f"a matrix with {self.n} rows as in y", f"shape {shape}")
        self._name_classes()

    def _name_classes(self) -> None:
        """Name the classes by their labels, unless they have names already."""
        try:
            labels = labelled(self.y, self.n).classes.tolist()
        except ProblemError:  # labels that a problem refuses, or takes only with its task
            return
        names = tuple(map(as_text, labels))
        if not self.classes:
            names = ("-1", "+1") if names == ("-1", "1") else names
            object.__setattr__(self, "classes", names)
        elif len(self.classes) != len(names):
            expected = f"{len(names)} names, one for each class"
            raise ProblemError("classes", expected, f"{len(self.classes)}")

    def __repr__(self) -> str:
        kind = "similarities" if self.K is not None else "distances"
        shown = kind if self.X is None else f"d={self.X.shape[1]}"
        labels = "targets" if self.y is not None else "no labels"
        labels = f"classes={self.classes}" if self.classes else labels
        return f"Dataset({self.name!r}, n={self.n}, {shown}, {labels})"

    @property
    def n(self) -> int:
        """Number of points or objects."""
        known = (self.y, self.X, self.K, self.D)
        return next(len(array) for array in known if array is not None)

    @property
    def points(self) -> Array:
        """X, (n, d).

        Raises
        ------
        ProblemError
            If only similarities or distances are known.
        """
        if self.X is None:
            raise ProblemError("X", "a data set with features", f"{self.name!r}, which has none")
        return self.X


def checkerboard(n: int = 200, cells: int = 4, overlap: float = 0.0, seed: int = 0) -> Dataset:
    """Points of [-1, 1]^2 labelled like a checkerboard (Loosli, Ong and Canu 2013, Section 6.2).

    Parameters
    ----------
    n : int
    cells : int
        Squares along a side.
    overlap : float
        In [0, 1]: the round(overlap * n) points nearest to a boundary between squares get random
        labels with equal probabilities. The paper has "10% of overlapping classes at boundaries"
        and does not say how they were made.
    seed : int

    Examples
    --------
    >>> data = checkerboard(n=4, cells=2)
    >>> [int(np.prod(np.sign(x))) for x in data.X] == data.y.tolist()
    True
    """
    checks.whole("n", n, 2)
    checks.whole("cells", cells, 2)
    checks.number("overlap", overlap, 0.0, 1.0)
    random = _random(seed)
    board = random.uniform(0.0, cells, size=(n, 2))
    y = np.where(np.floor(board).sum(axis=1) % 2 == 0, 1, -1)
    inner = np.clip(np.rint(board), 1, cells - 1)
    nearest = np.argsort(np.abs(board - inner).min(axis=1))[: round(overlap * n)]
    y[nearest] = random.choice([-1, 1], size=len(nearest))
    return Dataset(
        name="checkerboard",
        X=2.0 * board / cells - 1.0,
        y=y,
        description=f"{cells} x {cells} board on [-1, 1]^2, overlap {overlap}",
        kernel=Sigmoid(),
    )


def balls(n: int = 200, dimensions: int = 3, seed: int = 0) -> Dataset:
    """Distances between the surfaces of balls in a cube (`genballd` of DisTools, [DP]).

    The centres are uniform in a cube of side 100, drawn again where balls overlap. The radii are 1
    in the one class, and 2 in the other. Objects with a size violate the triangle inequality: two
    balls may both be near a large one between them.

    Parameters
    ----------
    n : int
        Even, at most a thousand, so that the balls find room.
    dimensions : int
        At least 3.
    seed : int

    Examples
    --------
    >>> data = balls(n=20)
    >>> data.D.shape, bool(np.all(data.D >= 0.0))
    ((20, 20), True)
    """
    from scipy.spatial.distance import cdist

    half = _half(n, 2)
    checks.whole("n", n, 2, most=1000)
    checks.whole("dimensions", dimensions, 3)
    random, radii = _random(seed), np.repeat([1.0, 2.0], half)
    centres = random.uniform(0.0, 100.0, size=(n, dimensions))
    while True:
        D = cdist(centres, centres) - radii[:, None] - radii[None, :]
        np.fill_diagonal(D, 0.0)
        overlapping = np.flatnonzero(np.any(D < 0.0, axis=1))
        if not overlapping.size:
            break
        centres[overlapping[-1]] = random.uniform(0.0, 100.0, size=dimensions)
    return Dataset(
        name="balls", D=D, y=_labels(half), classes=("radius 2", "radius 1"),
        description=f"balls of radius 1 and 2 in {dimensions} dimensions, surface distances",
    )  # fmt: skip


def gaussians(n: int = 2000, p: float = 1.0, separation: float = 2.0, seed: int = 0) -> Dataset:
    r"""Minkowski distances \((\sum_j |x_j - z_j|^p)^{1/p}\) of two normal classes [DP].

    The classes are N(0, I) and N(δ e₁, I) in 20 dimensions, so that the best rule has the accuracy
    Φ(δ/2), .841 for the default δ = 2. With p = 1 this is the distribution of GaussM1, with p = 0.2
    that of GaussM02. That δ is 2 is inferred: the smallest eigenvalues of D then are -1866 and
    -2.102e8 with the default seed; [LOC] print -1873.9 and -2.1096e8, and accuracies up to .8395.

    Parameters
    ----------
    n : int
        Even.
    p : float
        Positive; below 1 the triangle inequality does not hold.
    separation : float
        δ.
    seed : int

    Examples
    --------
    >>> gaussians(n=10, p=0.2).D.shape
    (10, 10)
    """
    from scipy.spatial.distance import cdist

    half = _half(n, 2)
    checks.positive("p", p)
    checks.number("separation", separation, 0.0, np.inf)
    X = _random(seed).standard_normal((n, 20))
    X[:half, 0] += separation
    return Dataset(
        name="gaussians", D=cdist(X, X, "minkowski", p=p), y=_labels(half),
        description=f"two normal classes, {separation} apart, Minkowski distances with p = {p}",
    )  # fmt: skip


def haasdonk_figure1a(n: int = 20, seed: int = 0) -> Dataset:
    """Separable data in R^(1,1) with one local optimum (Haasdonk 2005, Figures 1a, 1b and 2a).

    The classes lie in cones that open away from each other about the real axis, with their tips
    at (1, 0) and (-1, 0): squared distances between classes, and of the class means, are
    positive, and Lemma 5 of [H05]_ applies: the optimum is the only stationary point.

    Examples
    --------
    >>> data = haasdonk_figure1a()
    >>> data.optima["objective"]
    array([0.5])
    """
    # At any z+, z- write z+ - z- = (2 + A, B), |B| <= 0.9 A. Moving the weight of a point
    # tip + (a, b) to its tip changes d^2 at the rate -2 (a (2 + A) - b B) < 0, so all the
    # weight is at the tips, d^2 = 4. As d^2 >= 4 on the hulls, 2 - S d^2 >= 0 (shrinking alpha
    # must not increase the objective) gives S <= 1/2: no bound C > 1/2 is active at any maximum.
    m = _half(n, least=4)
    random = _random(seed)
    tip = np.array([1.0, 0.0])
    X = np.concatenate([_cone(random, m) + tip, -_cone(random, m) - tip])
    return _after_haasdonk(
        "Figure 1a", "separable cones in R^(1,1)", X, _labels(m),
        optima=_optima(n, [(0, m)], np.array([4.0])),
    )  # fmt: skip


def haasdonk_figure1c(n: int = 40, seed: int = 0) -> Dataset:
    """Overlapping classes in R^(1,1) (Haasdonk 2005, Figures 1c, 1d, 2b and 2c).

    Normal clouds about (1, 0) and (-1, 0), and one point of each class at the other's centre:
    no line separates them, and the SVM dual grows without bound with C. The class means have
    the positive squared distance 4 (1 - 4/n)^2, so that a small C or mu suits the data.

    Examples
    --------
    >>> data = haasdonk_figure1c(n=40)
    >>> difference = data.X[data.y == 1].mean(axis=0) - data.X[data.y == -1].mean(axis=0)
    >>> round(float(difference[0] ** 2 - difference[1] ** 2), 12)
    3.24
    """
    m = _half(n, least=8)
    random = _random(seed)
    clouds = random.normal(scale=0.6, size=(2, m - 1, 2))
    clouds -= clouds.mean(axis=1, keepdims=True)
    right, left = np.array([1.0, 0.0]), np.array([-1.0, 0.0])
    X = np.vstack([clouds[0] + right, left, clouds[1] + left, right])
    return _after_haasdonk("Figure 1c", "overlapping clouds in R^(1,1)", X, _labels(m))


def haasdonk_figure2d(n: int = 16, seed: int = 0) -> Dataset:
    """Data in R^(1,1) for which no indefinite SVM is suitable (Haasdonk 2005, Figure 2d).

    The classes follow each other as + - - + along the real axis, the positive one above it and the
    negative one below. All squared distances between points are at least 0.19, and yet that of the
    class means is at most -0.51: no C gives w a positive squared norm.

    Examples
    --------
    >>> data = haasdonk_figure2d()
    >>> difference = data.X[data.y == 1].mean(axis=0) - data.X[data.y == -1].mean(axis=0)
    >>> bool(difference[0] ** 2 < difference[1] ** 2)
    True
    """
    _half(n, least=4)
    if n % 4:
        raise ParameterError("n", "a multiple of 4", repr(n))
    y = np.tile([1, -1, -1, 1], n // 4)
    height = _random(seed).uniform(0.36, 0.45, size=n)
    X = np.column_stack([np.arange(n), y * height])
    return _after_haasdonk("Figure 2d", "class means at negative squared distance", X, y)


def haasdonk_figure3(n: int = 20, shift: float = 0.25, seed: int = 0) -> Dataset:
    """Separable data in R^(1,1) with exactly two local optima (Haasdonk 2005, Figure 3).

    The positive class has the vertices (2, 1) and (2, -1 - shift) and further points to the
    right of the line between them; the negative class opens to the left from its tip (0, 0).
    Either vertex with the tip is a strict local optimum.

    Parameters
    ----------
    n : int
        Even.
    shift : float
        In [0, 0.9]: how far the lower vertex is shifted down, which makes it the better one.
    seed : int

    Examples
    --------
    >>> haasdonk_figure3().optima["objective"].round(4)
    array([0.6667, 0.8205])
    """
    # Write z+ - z- = (u, v), where u >= 2 and d^2 = u^2 - v^2.
    # 1. Moving the weight of a positive point (2 + a, b), a > 0, to the point (2, b) of the line
    #    decreases d^2 at the rate 2 a u > 0. Only the two vertices are left, and d^2 is strictly
    #    concave between them, so a minimum uses one of them.
    # 2. Moving the weight of a negative point (-a, b), |b| <= 0.9 a, to the tip decreases d^2 at
    #    the rate 2 (a u + b v) > 0, as u >= 2 + A and |v| <= 1.9 + 0.9 A, -A the real part of z-.
    # 3. At a vertex and the tip all these rates, and that towards the other vertex, are strict.
    # 4. Bounds are inactive, as for Figure 1a, if C exceeds 2 over the smaller d^2.
    m = _half(n, least=6)
    checks.number("shift", shift, 0.0, 0.9)
    random = _random(seed)
    low = -1.0 - shift
    inside = random.uniform([2.1, low], [3.5, 1.0], size=(m - 2, 2))
    X = np.vstack([[2.0, 1.0], [2.0, low], inside, -_cone(random, m)])
    return _after_haasdonk(
        "Figure 3", "two local optima in R^(1,1)", X, _labels(m),
        optima=_optima(n, [(0, m), (1, m)], np.array([3.0, 4.0 - low**2])),
    )  # fmt: skip


def haasdonk_lemma4(q: int = 3, shift: float = 0.5) -> Dataset:
    """Data in R^(1,q) with exactly 2^q local optima, all known (Haasdonk 2005, Lemma 4).

    One class is the cube with vertices (h, s_1 + o_1, ..., s_q + o_q), s in {-1, 1}^q, displaced
    by o_j = shift / 2^j; the other is the origin. h^2 = 4 + sum_j (1 + o_j)^2. Every vertex v
    together with the origin is a strict local optimum: with k = 0, ..., 2^q - 1 the number whose
    j-th binary digit from the left is 1 where s_j = -1,

        <v, v> = 4 (1 + shift k / 2^q),    objective = alpha_v = alpha_0 = 2 / <v, v>

    and all other weights are 0. Vertices are in the order of k, so that the first is a global
    optimum, the only one if shift > 0.

    Parameters
    ----------
    q : int
        From 1 to 10.
    shift : float
        In [0, 1]; 0 gives equal objective values.

    Examples
    --------
    >>> data = haasdonk_lemma4(q=2, shift=1)
    >>> data.optima["objective"].round(4)
    array([0.5   , 0.4   , 0.3333, 0.2857])
    """
    # z- is the origin and z+ = (h, m), so d^2 = h^2 - |m|^2, strictly concave in the weights
    # along the edge between any two vertices. A local minimum with two vertices in its support
    # could move along that edge in both directions; hence its support is one vertex v.
    # There the rate of -d^2 towards the vertex that differs in the signs of J is
    # -4 sum_{j in J} (1 + s_j o_j) < 0, since |o_j| < 1, and in S the objective is strictly
    # concave with its maximum at S = 2 / <v, v> <= 1/2 < C: a strict local maximum. No bound C
    # interferes, since S = alpha_0 <= C leaves every vertex of a larger support below C, and
    # alpha = 0 is no maximum, since the objective grows like 2 S there.
    checks.whole("q", q, most=10, reason="there are 2^q points")
    checks.number("shift", shift, 0.0, 1.0)
    vertices = 2**q
    negative = np.arange(vertices)[:, None] >> np.arange(q)[::-1] & 1
    offset = shift / 2.0 ** np.arange(1, q + 1)
    h = np.sqrt(4.0 + ((1.0 + offset) ** 2).sum())
    cube = np.column_stack([np.full(vertices, h), 1.0 - 2.0 * negative + offset])
    X = np.vstack([cube, np.zeros(1 + q)])
    y = np.append(np.ones(vertices, dtype=np.int64), -1)
    squared = 4.0 * (1.0 + shift * np.arange(vertices) / vertices)
    return _after_haasdonk(
        "Lemma 4", f"2^{q} local optima in R^(1,{q})", X, y,
        optima=_optima(vertices + 1, [(k, vertices) for k in range(vertices)], squared),
    )  # fmt: skip


def haasdonk_figure4a(n: int = 68, seed: int = 0) -> Dataset:
    """A diamond inside a larger one, separable (Haasdonk 2005, Figure 4a, C infinite).

    The positive class fills |x_1 - 1/2| + |x_2 - 1/2| < 0.22 uniformly, the negative class the ring
    where this is between 0.32 and 0.5. The sizes are chosen such that 68 points have the signature
    and the support vectors that Haasdonk reports: (52, 15) and 29. In 40 draws the means are
    (52.2, 14.8) and 28.9.

    Examples
    --------
    >>> data = haasdonk_figure4a()
    >>> data.n, data.kernel
    (68, L1Gaussian(gamma=50.0))
    """
    m = _half(n, least=4)
    random = _random(seed)
    # Each class covers over 0.09 of the square: 200 m draws suffice for m points of each.
    points = random.uniform(size=(200 * m, 2))
    radius = np.abs(points - 0.5).sum(axis=1)
    X = np.concatenate([points[radius < 0.22][:m], points[(radius > 0.32) & (radius < 0.5)][:m]])
    return _after_haasdonk(
        "Figure 4a", "a diamond inside another", X, _labels(m), kernel=L1Gaussian(gamma=50.0),
    )  # fmt: skip


def haasdonk_figure4b(n: int = 40, seed: int = 0) -> Dataset:
    """Two overlapping normal classes (Haasdonk 2005, Figure 4b, where C = 2000).

    Both have standard deviation 0.05 in each direction; the means (0.55, 0.5) and (0.45, 0.5)
    differ along the horizontal. As in the figure the signature is (18, 21), the solution has a
    positive squared norm, and 25 points are support vectors, the mean of 40 draws. With larger
    deviations the squared norm becomes negative.

    Examples
    --------
    >>> data = haasdonk_figure4b()
    >>> data.n, data.kernel
    (40, L1Gaussian(gamma=0.005))
    """
    m = _half(n, least=4)
    noise = _random(seed).normal(scale=0.05, size=(n, 2))
    y = _labels(m)
    X = noise + np.column_stack([0.5 + 0.05 * y, np.full(n, 0.5)])
    return _after_haasdonk("Figure 4b", "two normal classes", X, y, kernel=L1Gaussian(gamma=0.005))


def _after_haasdonk(
    example: str, description: str, X: Array, y: Labels, kernel: Kernel | None = None, **facts: Any
) -> Dataset:
    """The data set after a figure or a lemma of [H05]_; the kernel is that of R^(1,q)."""
    return Dataset(
        f"haasdonk-{example.lower().replace(' ', '')}", y, X,
        description=f"{description}, after Haasdonk 2005, {example}",
        kernel=kernel or PseudoEuclidean(p=1), **facts,
    )  # fmt: skip


def _cone(random: np.random.Generator, m: int) -> Array:
    """The tip (0, 0) and m - 1 points (a, b) with 0.1 <= a <= 2 and |b| <= 0.9 a."""
    a = random.uniform(0.1, 2.0, size=m - 1)
    b = a * random.uniform(-0.9, 0.9, size=m - 1)
    return np.vstack([np.zeros(2), np.column_stack([a, b])])


def _random(seed: int) -> np.random.Generator:
    checks.whole("seed", seed, least=0, most=np.inf)
    return np.random.default_rng(seed)


def _labels(m: int) -> Labels:
    return np.repeat([1, -1], m)


def _optima(n: int, pairs: list[tuple[int, int]], squared: Array) -> dict[str, Any]:
    """Local optima that rest on one point of each class, at the given squared distances."""
    weight = 2.0 / squared
    alpha = np.zeros((len(pairs), n))
    for row, pair in enumerate(pairs):
        alpha[row, list(pair)] = weight[row]
    # Any C above the largest weight leaves the optima unchanged; this is twice the largest.
    return {"C": 2.0 * float(weight.max()), "alpha": alpha, "objective": weight}


def _half(n: int, least: int) -> int:
    """Points per class, for classes of equal size."""
    checks.whole("n", n, least)
    if n % 2:
        raise ParameterError("n", "an even number", repr(n))
    return n // 2
