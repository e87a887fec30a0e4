"""Loops of the doubly nonnegative relaxation; `relaxation.cpp` says what Z, V and W are."""

from __future__ import annotations

import functools
from ctypes import Structure, c_double, c_void_p

import numpy as np

from indefinite_opt.core import binding, library
from indefinite_opt.core.binding import (
    BOOL,
    INT64,
    NUMBER,
    WHOLE,
    Held,
    Indices,
    Lent,
    Mask,
    Table,
    View,
    lending,
    number,
    numbers,
    positive,
    reference,
    table,
    vector,
)
from indefinite_opt.errors import ProblemError
from indefinite_opt.foundation import Array

BALANCE_PERIOD = int(library.constant("BALANCE_PERIOD"))
"""Iterations between two comparisons of the primal with the dual residual."""

MAX_LITERALS = int(library.constant("MAX_LITERALS"))
"""Most literals of an inequality."""

MAX_ORDER = int(library.constant("MAX_ORDER"))
"""Largest order of a matrix that `project` and `advance` accept."""

_NOT_FINITE = int(library.constant("NOT_FINITE"))


class Model(Held, Structure):
    """The data of the method, which do not change while it iterates.

    Attributes
    ----------
    cost : (n + 1, n + 1) array
        L in the coordinates of U.
    lines : (k, n + 1) array
        Orthonormal rows; U is zero along them.
    binary : (n,) array of bool
        Variables known to be at one of their ends.
    omega : float
        Weight of the coordinate 1, positive.
    balance : float
        The ratio of primal to dual residual to aim at, positive.
    """

    _fields_ = [
        ("cost", Table), ("lines", Table), ("binary", View), ("omega", c_double),
        ("balance", c_double),
    ]  # fmt: skip

    def __init__(
        self, cost: Array, lines: Array, binary: Mask, omega: float, balance: float
    ) -> None:
        flags = vector(binary, "binary", dtype=BOOL)
        order = binary.size + 1
        super().__init__(
            table(cost, "cost", order, order), table(lines, "lines", None, order), flags,
            positive(omega, "omega"), positive(balance, "balance"),
        )  # fmt: skip
        numbers(cost, "cost")
        numbers(lines, "lines")
        self.arrays = cost, lines, binary, omega, balance


class Inequalities(Held, Structure):
    """Inequalities Σ_q signs_q · (product at places_q) ≥ least, one for each row of places.

    Attributes
    ----------
    multipliers : (t,) array
        Changed in place.
    places : (t, q) array of int64
        Indices in the flat pairs.
    signs : (q,) array
        Each 1 or -1.
    least : float
    """

    _fields_ = [("multipliers", View), ("places", Table), ("signs", View), ("least", c_double)]

    def __init__(self, multipliers: Array, places: Indices, signs: Array, least: float) -> None:
        factors, given = vector(multipliers, "multipliers", changed=True), vector(signs, "signs")
        super().__init__(
            factors, table(places, "places", factors.size, given.size, dtype=INT64), given,
            number(least, "least"),
        )  # fmt: skip
        numbers(signs, "signs")
        self.arrays = multipliers, places, signs, least


class Iterate(Held, Structure):
    """The variables, all changed in place: V + cut is Z minus the multipliers of Z ≥ 0.

    Attributes
    ----------
    pairs : (n(n-1)/2, 4) array
    ends : (n, 2) array
    squares : (n, 3) array
        The parts of V.
    corner : (1,) array
        V of the coordinate 1·1.
    cut : (n(n-1)/2, 4) array
        Coefficients of the pairs in the inequalities times their multipliers.
    kinds : three of Inequalities
        Triangles, pentagons and heptagons.
    penalty : (1,) array
        σ.
    U : (n + 1, n + 1) array
    """

    _fields_ = [
        ("pairs", Table), ("ends", Table), ("squares", Table), ("corner", View), ("cut", Table),
        ("kinds", Inequalities * 3), ("penalty", View), ("U", Table),
    ]  # fmt: skip

    def __init__(
        self, pairs: Array, ends: Array, squares: Array, corner: Array, cut: Array,
        kinds: tuple[Inequalities, Inequalities, Inequalities], penalty: Array, U: Array,
    ) -> None:  # fmt: skip
        parts, order = _parts(pairs, ends, squares, changed=True), len(ends) + 1
        for each in kinds:
            binding.within(each.arrays[1], "places", below=pairs.size)
        super().__init__(
            *parts, vector(corner, "corner", 1, changed=True),
            table(cut, "cut", len(pairs), 4, changed=True), (Inequalities * 3)(*kinds),
            vector(penalty, "penalty", 1, changed=True),
            table(U, "U", order, order, changed=True),
        )  # fmt: skip
        self.arrays = pairs, ends, squares, corner, cut, kinds, penalty, U

    def require_numbers(self) -> None:
        """Raise `ProblemError` if an entry is NaN."""
        for (name, *_), array in zip(self._fields_, self.arrays, strict=True):
            if name != "kinds":
                numbers(array, name)
        for each in self.arrays[5]:
            numbers(each.arrays[0], "multipliers")


class Lapack(Structure):
    """`Lapack`: the functions of SciPy that C++ calls."""

    _fields_ = [("dsyevd", c_void_p), ("dsyrk", c_void_p)]


@functools.cache
def _lapack() -> Lapack:
    from scipy.linalg import cython_blas, cython_lapack

    flag, size, real = "char *", "int *", "double *"
    dsyevd = (flag, flag, size, real, size, real, real, size, size, size, size)
    dsyrk = (flag, flag, size, size, real, real, size, real, real, size)
    return Lapack(
        library.scipy_pointer(cython_lapack, "dsyevd", f"void ({', '.join(dsyevd)})"),
        library.scipy_pointer(cython_blas, "dsyrk", f"void ({', '.join(dsyrk)})"),
    )


_MODEL, _ITERATE = reference(Model), reference(Iterate)
_spread = library.function("relaxation_spread", Table, Table, Table, NUMBER, NUMBER, Table)
_gather = library.function("relaxation_gather", _MODEL, _ITERATE, Table, Lent)
_project = library.function("relaxation_project", Table, Table, Lapack, Lent, returns=WHOLE)
_scatter = library.function("relaxation_scatter", _MODEL, _ITERATE, View)
_rebalance = library.function("relaxation_rebalance", _MODEL, _ITERATE, NUMBER, View)
_advance = library.function(
    "relaxation_advance", _MODEL, _ITERATE, NUMBER, WHOLE, Lapack, Lent, returns=WHOLE
)
_triangles = library.function(
    "most_violated_triangles", View, WHOLE, NUMBER, Table, View, returns=WHOLE
)
_odd_cliques = library.function(
    "violated_odd_cliques", Table, Table, NUMBER, Table, View, Lent, returns=WHOLE
)


def spread(
    pairs: Array, ends: Array, squares: Array, corner: float, omega: float, G: Array
) -> None:
    """G = WᵀZW for the parts of a symmetric Z, in place.

    Shapes (n(n-1)/2, 4), (n, 2), (n, 3) and (n + 1, n + 1); `corner` is that of the coordinate 1·1.
    """
    parts, order = _parts(pairs, ends, squares), len(ends) + 1
    target = table(G, "G", order, order, changed=True)
    for array, name in ((pairs, "pairs"), (ends, "ends"), (squares, "squares")):
        numbers(array, name)
    _spread(*parts, number(corner, "corner"), positive(omega, "omega"), target)


def gather(model: Model, iterate: Iterate, G: Array) -> None:
    """G = Wᵀ(2Z - V)W - L/σ on the face, in place, whose projection is the next U."""
    order = _order(model, iterate)
    target = table(G, "G", order, order, changed=True)
    _gather(model, iterate, target, lending(*_gathering(model, iterate)))


def project(G: Array, U: Array) -> None:
    """U = the projection of a symmetric G on the positive semidefinite matrices, in place.

    `LinAlgError` if the eigenvalues of G cannot be computed.
    """
    source, order = _square(G, "G"), len(G)
    target = table(U, "U", order, order, changed=True)
    numbers(G, "G")
    memory = lending(*_projecting(order, "G"))
    _raise_failure(_project(source, target, _lapack(), memory))


def scatter(model: Model, iterate: Iterate, residuals: Array) -> None:
    """Z and the multipliers from U; adds to the residuals (2,), primal and dual.

    These are relative to the sizes of Z and L.
    """
    _order(model, iterate)
    _scatter(model, iterate, _residuals(residuals))


def rebalance(model: Model, iterate: Iterate, change: float, residuals: Array) -> None:
    """Change the penalty σ by a factor if the residuals so far are out of balance, and reset these.

    In balance the primal residual is `balance` times the dual one.
    """
    _order(model, iterate)
    _rebalance(model, iterate, positive(change, "change"), _residuals(residuals))


def advance(model: Model, iterate: Iterate, change: float, iterations: int) -> None:
    """Iterations of the alternating direction method of multipliers, in place.

    Each is `gather`, `project` and `scatter`, and every `BALANCE_PERIOD` of them `rebalance`.
    `LinAlgError` if the eigenvalues of a matrix cannot be computed.
    """
    order = _order(model, iterate)
    memory = lending(order * order, 2, *_gathering(model, iterate), *_projecting(order, "iterate"))
    factor = positive(change, "change")
    _raise_failure(_advance(model, iterate, factor, binding.count(iterations), _lapack(), memory))


def most_violated(
    pairs: Array, cut: Array, n: int, least: float, most: int
) -> tuple[Indices, Array]:
    """Triangle inequalities violated by more than `least`: literals p, q, r and violations.

    For three literals of different points: p(1 - q) + qr - pr ≥ 0, which holds on the whole box
    because it holds at its corners (Padberg 1989; Burer & Letchford 2009). Four of the eight
    choices of literals differ. When `most` inequalities are found, `least` is doubled and those
    below it are dropped. Returns arrays (t, 3) and (t,).
    """
    for array, name in ((pairs, "pairs"), (cut, "cut")):
        table(array, name, n * (n - 1) // 2, 4)
        numbers(array, name)
    Z = np.maximum(pairs + cut, 0.0).ravel()
    literals, found = np.empty((most, 3), np.int64), np.empty(most)
    count = _triangles(
        vector(Z, "Z"), n, number(least, "least"),
        table(literals, "literals", dtype=INT64, changed=True),
        vector(found, "found", changed=True),
    )  # fmt: skip
    return literals[:count], found[:count]


def violated_odd_cliques(D: Array, sets: Indices, size: int, least: float) -> tuple[Indices, Array]:
    """Violated inequalities of an odd number of literals to which some sets of literals lead.

    D (m, m) are the second moments of d. With the values ±d of k literals of different variables,
    k odd, an inequality says that the k(k - 1)/2 products of two of them sum to at least
    -(k - 1)/2 (the pure hypermetric inequalities of Deza & Laurent 1997, chapter 28). Each of the
    sets (t, j), j ≤ k = `size` ≤ m, grows by the literals that violate most, and then literals are
    exchanged one at a time for the best ones: the result is a local optimum. Returns literals
    (t', k), ascending, and violations (t',), those above `least`; some may be equal.
    """
    moments, given = _square(D, "D"), table(sets, "sets", dtype=INT64)
    numbers(D, "D")
    binding.within(sets, "sets", below=2 * len(D))
    most = min(MAX_LITERALS, len(D))
    if size % 2 == 0 or not given.columns <= size <= most:
        raise ProblemError("size", f"an odd number from {given.columns} to {most}", str(size))
    points = np.sort(sets // 2, axis=1)
    if np.any(points[:, 1:] == points[:, :-1]):
        raise ProblemError("sets", "literals of different variables", "a variable twice")
    found, violations = np.empty((len(sets), size), np.int64), np.empty(len(sets))
    count = _odd_cliques(
        moments, given, number(least, "least"),
        table(found, "found", dtype=INT64, changed=True),
        vector(violations, "violations", changed=True), lending(len(D), len(D)),
    )  # fmt: skip
    return found[:count], violations[:count]


def _parts(
    pairs: Array, ends: Array, squares: Array, *, changed: bool = False
) -> tuple[Table, Table, Table]:
    """The parts of a matrix of n variables."""
    middle = table(ends, "ends", None, 2, changed=changed)
    n: int = middle.count
    return (
        table(pairs, "pairs", n * (n - 1) // 2, 4, changed=changed),
        middle,
        table(squares, "squares", n, 3, changed=changed),
    )


def _square(array: Array, name: str) -> Table:
    return table(array, name, None, table(array, name).count)


def _order(model: Model, iterate: Iterate) -> int:
    """The order of U; `ProblemError` if the model has another one, or an entry is NaN."""
    order: int = iterate.U.count
    if model.cost.count != order:
        expected = f"a model of {order - 1} variables"
        raise ProblemError("model", expected, f"one of {model.cost.count - 1}")
    iterate.require_numbers()
    return order


def _residuals(residuals: Array) -> View:
    view = vector(residuals, "residuals", 2, changed=True)
    numbers(residuals, "residuals")
    return view


def _gathering(model: Model, iterate: Iterate) -> tuple[int, int]:
    """The blocks of memory of `gather`."""
    return 4 * iterate.pairs.count + 5 * iterate.ends.count, model.cost.count


def _projecting(order: int, name: str) -> tuple[int, int, int, int]:
    """The blocks of memory of `project`, as LAPACK's dsyevd wants them."""
    if not 1 <= order <= MAX_ORDER:
        raise ProblemError(name, f"an order from 1 to {MAX_ORDER}", str(order))
    return order * order, order, 1 + 6 * order + 2 * order * order, 3 + 5 * order


def _raise_failure(status: int) -> None:
    """Raise `LinAlgError` unless a projection has succeeded."""
    if status == _NOT_FINITE:
        raise np.linalg.LinAlgError("a matrix to be projected has entries that are not finite")
    if status:
        raise np.linalg.LinAlgError(f"dsyevd computed no eigenvalues and returned {status}")
