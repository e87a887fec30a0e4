"""Kernel matrices as solvers read them: stored as a whole, or computed row by row."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from indefinite_opt.errors import ParameterError, ProblemError
from indefinite_opt.foundation import (
    EPS,
    SYMMETRY_TOLERANCE,
    Array,
    afford,
    cached_property,
    checked_points,
    checks,
    large_array,
    real_array,
    tiles,
)
from indefinite_opt.problem import kernels
from indefinite_opt.problem.kernels import Kernel
from indefinite_opt.quadratic import CHUNK, AbsentGram, Construction, Gram, Indices

_OPERATIONS = 10.0
"""Operations of an entry of K beside one for each feature, half of which a pass computes."""

_IDLE_REQUESTS = 5
"""Requests for rows after which a row that none of them asked for may be given up."""

_SAMPLED_ROWS = 16
"""Rows that tell kernels on the same points apart, and on which a kernel is tested for symmetry."""


def remarks(
    gram: Gram,
    distances: str = 'the name D in a .npz file, kind="distances" of a .csv file, or '
    "KernelProblem.from_distances",
) -> tuple[str, ...]:
    """What is odd about a kernel matrix that is kept as a whole and not tiny, as sentences.

    `distances` is what makes a kernel of distances.

    >>> D = np.abs(np.arange(6.0)[:, None] - np.arange(6.0))
    >>> from indefinite_opt.quadratic import DenseGram
    >>> remarks(DenseGram(D))[0].partition('.')[0]
    'K has a zero diagonal and no negative entry, as distances have'
    >>> remarks(DenseGram(np.exp(-D))), len(remarks(DenseGram(np.exp(-1e-12 * D))))
    ((), 1)
    """
    if gram.on_demand or gram.asymmetric or gram.n < 5 or isinstance(gram, AbsentGram):
        return ()
    least, most = gram.extremes
    if most - least <= 1e-9 * gram.largest:
        return (
            f"All entries of K are {most:.6g} up to a share of 1e-09, so that it does not tell "
            "points apart: scale the features, or take another kernel.",
        )
    diagonal = gram.diagonal
    if least == 0.0 and not diagonal.any():
        return (
            "K has a zero diagonal and no negative entry, as distances have. If they are "
            f"distances, make a kernel of them by {distances}.",
        )
    limit = 1e-6 * float(np.abs(diagonal).max())
    everything = np.arange(gram.n)
    for count in (1, gram.n):  # the first row settles it for nearly all matrices
        block = np.abs(gram.block(everything[:count], everything))
        np.fill_diagonal(block, 0.0)
        if float(block.max()) > limit:
            return ()
    return (
        "K is nearly diagonal: every point is similar to itself only, and new points are similar "
        "to none. Take a wider kernel, such as one with a smaller gamma, or scale the features.",
    )


class RowGram(Gram):
    """K_ij = k(x_i, x_j), computed row by row; as many rows are kept as fit into a cache.

    For data whose matrix does not fit into memory: it takes only the points, the cache of so many
    megabytes (10⁶ bytes), at least two rows, and some rows that are computed at once.

    The kernel must be symmetric on a sample of points, whatever the other points in the call, and
    any method raises `ProblemError` if values are not finite. The same entry computed twice, as
    K_ij or K_ji, alone or among many, may differ by the rounding of the kernel function, because
    the order of summation in matrix products depends on their shapes.

    >>> gram = RowGram([[1.0], [2.0], [3.0]], "linear", cache_mb=1)
    >>> gram.times(np.array([1.0, 0.0, 0.0])), gram.on_demand
    (array([1., 2., 3.]), True)
    """

    on_demand = True
    _data = "points"

    def __init__(
        self,
        points: ArrayLike,
        kernel: str | Kernel | Callable[..., Any],
        cache_mb: float = 200.0,
    ) -> None:
        self.points = np.ascontiguousarray(checked_points("X", points))
        self.kernel = kernels.get(kernel)
        self.n = len(self.points)
        checks.positive("cache_mb", cache_mb)
        row = 8 * self.n
        self.capacity = min(int(float(cache_mb) * 1e6 / row), self.n)
        if self.capacity < 2:
            raise ParameterError(
                "cache_mb", f"at least {2e-6 * row:g} megabytes, two rows of K", repr(cache_mb)
            )
        check_symmetric(self.kernel, self.points)
        self._largest_read = 0.0
        self._empty()

    def _empty(self) -> None:
        # Memory is taken when it is first written to.
        self._storage = large_array(self.capacity, self.n)
        self._slot_of = np.full(self.n, -1)
        self._row_in = np.full(self.capacity, -1)
        self._last_use = np.full(self.capacity, -_IDLE_REQUESTS)
        self._requests, self._room = 0, self.capacity
        # Threads that solve one problem share the rows that are kept.
        self._lock = threading.RLock()

    def __getstate__(self) -> dict[str, Any]:
        """All but the rows that are kept, which are computed again."""
        rows = ("_storage", "_slot_of", "_row_in", "_last_use", "_requests", "_room", "_lock")
        return {name: value for name, value in self.__dict__.items() if name not in rows}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._empty()

    def content(self) -> tuple[Array, ...]:
        # The kernel is known by its name only; rows tell functions of the same name apart.
        few = np.arange(min(self.n, _SAMPLED_ROWS))
        return self.points, self.block(few, np.arange(self.n))

    def repeated(self, times: int) -> RowGram:
        # The cache takes as much memory as this one, but has longer rows.
        size = max(self._storage.nbytes, 16 * times * self.n)
        return RowGram(np.tile(self.points, (times, 1)), self.kernel, 1e-6 * size)

    def part(self, chosen: Indices) -> RowGram:
        # The cache takes as much memory as this one, but all of the part at most.
        size = max(min(self._storage.nbytes, 8 * chosen.size**2), 16 * chosen.size)
        return RowGram(self.points[chosen], self.kernel, 1e-6 * size)

    @property
    def matrix(self) -> Array:
        raise ProblemError(
            "problem", "the whole kernel matrix", "one whose rows are computed on demand",
            "Spectra, squared distances, linear programs and cvxpy need it; cache_mb=math.inf "
            "forms it.",
        )  # fmt: skip

    @cached_property
    def diagonal(self) -> Array:
        parts = (self.points[part] for part in tiles(self.n, 64))
        return np.concatenate([np.diag(self._entries(each, each)) for each in parts], dtype=float)

    @cached_property
    def extremes(self) -> tuple[float, float]:
        """min K_ij and max K_ij, by one pass over the upper half of K."""
        least, most = np.inf, -np.inf
        for part in tiles(self.n, CHUNK // self.n):
            values = self._entries(self.points[part], self.points[part.start :])
            least, most = min(least, float(values.min())), max(most, float(values.max()))
        return least, most

    def with_sums(self) -> RowGram | None:
        """The same matrix and rows in memory; its norm is at most the largest Σ_j |K_ij|.

        That takes one pass over the upper half of K, and is far less than n·max K_ii where most
        points are not similar.
        """
        made = self.construction
        if made is None or made.allowance is None or made.norm is None:
            return None
        afford((self.points.shape[1] + _OPERATIONS) * float(self.n) ** 2)
        sums = np.zeros(self.n)
        for part in tiles(self.n, CHUNK // self.n):
            values = np.abs(self._entries(self.points[part], self.points[part.start :]))
            sums[part] += values.sum(axis=1)
            sums[part.stop :] += values[:, part.stop - part.start :].sum(axis=0)
        # The rows that are read may differ by the rounding of the kernel.
        norm = (1.0 + self.n * EPS) * float(sums.max()) + made.allowance
        gram = object.__new__(RowGram)
        gram.__dict__.update(self.__dict__)
        for known in ("norm", "rounding"):
            gram.__dict__.pop(known, None)
        gram.construction = made._replace(norm=min(norm, made.norm))
        return gram

    @property
    def largest_read(self) -> float:
        return self._largest_read

    def spread(
        self, indices: Indices, amounts: Array, v: Array, columns: Indices | None = None
    ) -> None:
        """See `Gram.spread`; the rows are kept where there is room, or others are idle."""
        with self._lock:
            self._requests += 1
            slots = self._slot_of[indices]
            self._last_use[slots[slots >= 0]] = self._requests
            missing, slots = indices[slots < 0], self._vacated(int(np.sum(slots < 0)))
            kept = missing[: slots.size]
            for part, values in self._computed(kept, self.points):
                self._storage[slots[part]] = values
            # An interrupt between two of these lines loses rows but never confuses them.
            self._row_in[slots] = kept
            self._last_use[slots] = self._requests
            self._slot_of[kept] = slots
            self._add(indices, -amounts, v, columns)

    def _vacated(self, count: int) -> Indices:
        """Up to so many places that are free, or whose rows are idle and are given up."""
        last = self._last_use[: self._room]
        idle = np.flatnonzero(last <= self._requests - _IDLE_REQUESTS)
        chosen = idle[np.argsort(last[idle], kind="stable")][:count]
        evicted = self._row_in[chosen]
        self._slot_of[evicted[evicted >= 0]] = -1
        self._row_in[chosen] = -1
        return chosen

    def reserve(self, size: int) -> None:
        self._room = max(self.capacity + size // (-8 * self.n), 0)

    def _times(self, x: Array) -> Array:
        """Kx, (n,); rows are read from the cache where possible, which is left unchanged."""
        support, total = np.flatnonzero(x), np.zeros(self.n)
        with self._lock:
            self._add(support, x[support], total, None)
        return total

    def _add(self, indices: Indices, amounts: Array, total: Array, columns: Indices | None) -> None:
        """total += Σ_k amounts[k] · K[indices[k]] at some columns; the cache is read."""
        slots = self._slot_of[indices]
        held, missing = np.flatnonzero(slots >= 0), np.flatnonzero(slots < 0)
        for part in tiles(held.size, CHUNK // self.n):
            total += amounts[..., held[part]] @ self._storage[slots[held[part]]]
        right = self.points if columns is None else self.points[columns]
        where = slice(None) if columns is None else columns
        for part, values in self._computed(indices[missing], right):
            total[..., where] += amounts[..., missing[part]] @ values

    def block(self, rows: Indices, columns: Indices) -> Array:
        block = np.empty((rows.size, columns.size))
        self.write(rows, columns, block, np.arange(rows.size))
        return block

    def write(self, rows: Indices, columns: Indices, target: Array, places: Indices) -> None:
        for part, values in self._computed(rows, self.points[columns]):
            target[places[part], : columns.size] = values

    def _computed(self, rows: Indices, right: Array) -> Iterator[tuple[slice, Array]]:
        """Some rows of K at a time, at the points on the right: their places, and their entries."""
        if len(right) == 0:
            return
        for part in tiles(rows.size, CHUNK // len(right)):
            values = self._entries(self.points[rows[part]], right)
            largest = max(float(values.max()), -float(values.min()))
            with self._lock:
                self._largest_read = max(self._largest_read, largest)
            yield part, values

    def _entries(self, left: Array, right: Array) -> Array:
        values = self.kernel.values(left, right)
        entries: Array = real_array("K", values, "a matrix of real numbers", finite=False)
        return entries


def apply_theorem(gram: Gram, found: kernels.Definiteness | None) -> None:
    """Note that a theorem proves convexity.

    The computed matrix is K + E with |E_ij| ≤ c·eps·k, k the largest |K_ij|, so that
    ‖E‖ ≤ n·c·eps·k. On the diagonal of a positive semidefinite kernel there is an entry of
    size k. Every entry of -d² is at most four times as large as some entry of its first row.
    """
    if found is None:
        return
    if found.conditional:
        first = gram.block(np.arange(1), np.arange(gram.n))
        largest = 4.0 * float(np.abs(first).max())
    else:
        largest = float(np.abs(gram.diagonal).max())
    # The smallest normal number is 2e-308: smaller entries may have been lost to underflow.
    if largest < 1e-290:
        return
    allowance = gram.n * found.rounding * EPS * largest
    norm, lines = gram.n * largest + allowance, 1 if found.conditional else 0
    gram.construction = Construction(found.theorem, lines, allowance, norm)


def check_symmetric(kernel: Kernel, points: Array) -> None:
    """Raise `ProblemError` unless k(x, z) = k(z, x), whatever other points are in the call.

    They may differ by the rounding of doubles only, as rows are not averaged with columns.
    """
    size = min(len(points), _SAMPLED_ROWS)
    sample = np.random.default_rng(0).choice(len(points), size, replace=False)
    rows = np.vstack([kernel.values(points[[i]], points) for i in sample])
    columns = kernel.values(points[sample], points[sample])
    difference = float(np.abs(rows[:, sample] - columns.T).max())
    if difference > SYMMETRY_TOLERANCE * float(np.abs(rows).max()):
        raise ProblemError(
            "K",
            f"{kernel!r} to be symmetric in its two arguments, whatever other points it is given "
            f"(within {SYMMETRY_TOLERANCE:.2g} of its largest value)",
            f"values of k(x, z) and k(z, x) that differ by up to {difference:.3g}",
            "Compute its values in float64, or form K by cache_mb=math.inf.",
        )
