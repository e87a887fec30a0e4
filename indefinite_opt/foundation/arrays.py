"""Checks of the arrays that callers give: matrices, points, labels and values of variables."""

from __future__ import annotations

import numbers
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from indefinite_opt.errors import ProblemError
from indefinite_opt.foundation import checks

EPS = float(np.finfo(np.float64).eps)

"""Machine precision of doubles: twice the largest relative rounding error of an operation."""

LEAST = 5e-324
"""The least positive double: a product that underflows is off by less."""

TINY = float(np.finfo(np.float64).tiny)
"""More than any sum here loses by underflow: less than 5e-324 for each of its terms, times the
numbers that these are multiplied by."""

Array = NDArray[np.float64]
"""Real numbers in double precision, of any shape."""

_Array = TypeVar("_Array", bound=NDArray[Any])

Values = dict[str, Array]
"""Arrays by the names of declared variables or constraints."""

SYMMETRY_TOLERANCE = 1e-10
"""Largest |K_ij - K_ji| accepted as rounding of doubles; see `symmetry_tolerance`."""

TILE = 256
"""Rows of a tile, or order of a square one: two that are compared fit into the cache."""

TILE_ENTRIES = 2**17
"""Entries of a tile that is read several times: a megabyte, which a processor's cache holds."""


def real_array(
    argument: str,
    value: ArrayLike,
    expected: str,
    shape: tuple[int | None, ...] | None = None,
    *,
    finite: bool = True,
) -> Any:
    """The value as an array of doubles: the value itself if it is one already.

    `ProblemError` for anything but real numbers of the shape, in which None stands for any length,
    and with `finite` also for NaN and infinities; it names the argument and what was expected.
    >>> real_array("alpha", [1, 2], "two weights", (2,))
    array([1., 2.])
    >>> real_array("alpha", [1j, 2], "two weights", (2,))
    Traceback (most recent call last):
    indefinite_opt.errors.ProblemError: alpha: expected two weights, got complex numbers
    """
    array = as_array(argument, value, expected)
    kind = array.dtype.kind
    if kind == "O":
        for entry in array.flat:
            if hasattr(entry, "toarray") and array.ndim == 0:
                raise ProblemError(
                    argument, expected, f"a sparse {type(entry).__name__}",
                    f"Give {argument}.toarray()"
                    f"{', or use KernelClassifier, which takes it.' if argument == 'X' else '.'}",
                )  # fmt: skip
            if not isinstance(entry, numbers.Real):
                raise ProblemError(argument, expected, f"an entry of type {type(entry).__name__}")
    elif kind not in "biuf":
        words = {"c": "complex numbers", "U": "text", "S": "text", "M": "dates", "m": "durations"}
        raise ProblemError(argument, expected, words.get(kind, f"entries of type {array.dtype}"))
    if shape is not None and (
        array.ndim != len(shape)
        or any(wanted not in (None, size) for wanted, size in zip(shape, array.shape, strict=True))
    ):
        raise ProblemError(argument, expected, f"shape {array.shape}")
    try:
        with np.errstate(over="raise"):
            array = array.astype(np.float64, copy=False)
    except (FloatingPointError, OverflowError):
        most = f"numbers up to {np.finfo(np.float64).max:.2g}, the largest double"
        raise ProblemError(argument, most, "larger ones") from None
    if finite and not np.isfinite(array).all():
        place = tuple(int(k) for k in np.argwhere(~np.isfinite(array))[0])
        where = f" at {place[0] if len(place) == 1 else place}" if place else ""
        raise ProblemError(argument, expected, f"{array[place]}{where}")
    return array


def as_array(argument: str, value: ArrayLike, expected: str) -> NDArray[Any]:
    """The value as an array of any type; `ProblemError` if it has a mask or is not an array.

    >>> as_array("y", ["a", "b"], "labels").size
    2
    """
    if type(value) is np.ndarray:  # which has no mask
        return value
    refuse_mask(argument, value, expected)
    try:
        return np.asarray(value)
    except (TypeError, ValueError):
        raise ProblemError(argument, expected, "nested sequences of unequal lengths") from None


def read_only(array: _Array) -> _Array:
    """A view that cannot be written to.

    >>> kept = np.zeros(2)
    >>> read_only(kept).flags.writeable, kept.flags.writeable
    (False, True)
    """
    view = array.view()
    view.flags.writeable = False
    return view


def frozen(value: Any, dtype: Any = None) -> Any:
    """A read-only array or sparse matrix: a copy unless the given one is read-only already.

    So must be every array that it is a view of.

    >>> given = np.zeros(2)
    >>> kept = frozen(given)
    >>> given[0] = 1.0
    >>> kept, frozen(kept) is kept, frozen(kept[:1]).base is kept
    (array([0., 0.]), True, True)
    >>> frozen(read_only(given)).base is None
    True
    """
    if type(value) is np.ndarray:
        owner: Any = value
        while isinstance(owner, np.ndarray) and not owner.flags.writeable:
            owner = owner.base
        if owner is None and dtype in (None, value.dtype):
            return value
    elif is_sparse(value):
        made = value.copy()
        for part in vars(made).values():
            if isinstance(part, np.ndarray):
                part.flags.writeable = False
        return made
    made = np.array(value, dtype=dtype)
    made.flags.writeable = False
    return made


def is_sparse(matrix: object) -> bool:
    """Whether it is a sparse matrix of scipy, which is not imported for that."""
    return hasattr(matrix, "tocsr")


def refuse_mask(argument: str, value: object, expected: str) -> None:
    """Raise `ProblemError` for a masked array: numpy would read what its mask hides."""
    for part in value if isinstance(value, list | tuple) else (value,):
        if isinstance(part, np.ma.MaskedArray):
            raise ProblemError(
                argument, expected, "a masked array",
                f"Fill or leave out the masked entries, or give {argument}.data.",
            )  # fmt: skip


def finite_array(argument: str, value: ArrayLike, shape: tuple[int | None, ...]) -> Array:
    """The value as a float64 array of finite numbers, of a shape as in `real_array`.
    >>> finite_array("K_new", [[1.0, 2.0]], (None, 2)).shape
    (1, 2)
    >>> finite_array("K_new", [[1.0, 2.0]], (None, 3))
    Traceback (most recent call last):
    indefinite_opt.errors.ProblemError: K_new: expected finite real numbers of shape (m, 3), got \
shape (1, 2)
    """
    expected = f"finite real numbers of shape {shape}".replace("None", "m")
    array: Array = real_array(argument, value, expected, shape)
    return array


def checked_points(argument: str, X: ArrayLike, features: int | None = None) -> Array:
    """Points in the rows of a finite matrix, with one column per feature; `ProblemError` else."""
    shape = "(m, d) with m, d ≥ 1" if features is None else f"(m, {features}) with m ≥ 1"
    expected = f"a finite matrix with points in rows, of shape {shape}"
    points: Array = real_array(argument, X, expected, (None, features))
    if 0 in points.shape:
        raise ProblemError(argument, expected, f"shape {points.shape}")
    return points


def checked_values(
    argument: str, given: object, shapes: Mapping[str, tuple[int, ...]]
) -> dict[str, Array]:
    """Finite arrays of exactly these names and shapes; `ProblemError` for anything else."""
    wanted = ", ".join(f"{name} of shape {shape}" for name, shape in shapes.items())
    if not isinstance(given, Mapping):
        held = "multipliers" if argument == "multipliers" else "values"
        inside = isinstance(getattr(given, held, None), Mapping)
        raise ProblemError(
            argument, f"a mapping with {wanted}", f"an object of type {type(given).__name__}",
            f"Pass its `{held}`." if inside else "",
        )  # fmt: skip
    if set(given) != set(shapes):
        names = ", ".join(sorted(map(str, given))) or "none"
        raise ProblemError(argument, wanted, f"the names {names}")
    return {
        name: finite_array(f"{argument}[{name!r}]", given[name], shape)
        for name, shape in shapes.items()
    }


def copied(values: Mapping[str, Array]) -> Values:
    """Copies of the arrays, as a caller may write to them later."""
    return dict(zip(values, map(np.array, values.values()), strict=True))


def type_of(value: object) -> np.dtype[Any]:
    """The type in which numbers came in an array, a DataFrame or a tensor, if it is coarser than
    doubles; else that of doubles, because numbers of all other types count as doubles.

    >>> type_of(np.ones(2, np.float32)), type_of(np.ones(2, np.int8)), type_of([1.0, 2.0])
    (dtype('float32'), dtype('float64'), dtype('float64'))
    """
    dtype = np.asarray(value).dtype if hasattr(value, "__array__") else np.dtype(np.float64)
    return dtype if rounding_of(dtype) > EPS else np.dtype(np.float64)


def rounding_of(dtype: np.dtype[Any]) -> float:
    """The eps of a type that is coarser than doubles, and for all others that of doubles."""
    return max(EPS, float(np.finfo(dtype).eps)) if dtype.kind == "f" else EPS


def symmetry_tolerance(dtype: np.dtype[Any]) -> float:
    """Largest |K_ij - K_ji| accepted as rounding, relative to the largest entry of rows i and j.

    It is 16 eps of the type in which the entries came, which covers a kernel that was computed in
    this type, and 1e-10 for doubles and integers. K is then replaced by the mean of K and Kᵀ, so
    that no claim depends on this value.
    >>> f"{symmetry_tolerance(np.dtype(np.float32)):.2g}"
    '1.9e-06'
    """
    return max(SYMMETRY_TOLERANCE, 16.0 * rounding_of(dtype))


def label_vector(argument: str, y: ArrayLike, expected: str = "a vector of labels") -> NDArray[Any]:
    """Labels of any type as a vector; `ProblemError` for anything else."""
    labels = as_array(argument, y, expected)
    if labels.ndim != 1:
        raise ProblemError(argument, expected, f"shape {labels.shape}")
    return labels


TASKS = ("classification", "regression", "one class")
"""What labels ask for: to tell classes apart, to predict numbers, or to describe one class."""


class Labels(NamedTuple):
    """Labels that were checked, and the task that they ask for."""

    task: str
    """One of `TASKS`."""
    classes: NDArray[Any]
    """The classes in sorting order, (k,); none for regression and without labels."""
    values: Array
    """The number of each label among the classes, or the target, or 1 without labels; (n,)."""

    @property
    def signs(self) -> Array:
        """-1 and 1 for two classes, else 1 for every point; (n,)."""
        if self.classes.size == 2:
            return np.where(self.values > 0.0, 1.0, -1.0)
        return np.ones(self.values.size)


def labelled(y: ArrayLike | None, n: int, task: str | None = None) -> Labels:
    """Labels of n points as those of a task.

    By default two values, texts, truth values and whole numbers of any type are classes, other
    numbers are targets, and without labels there is one class.

    >>> labelled([0, 2, 1], 3).classes, labelled([0.5, 2.0, 1.0], 3).values
    (array([0, 1, 2]), array([0.5, 2. , 1. ]))
    """
    if task is not None:
        checks.choice("task", task, TASKS)
    if y is None:
        if task not in (None, "one class"):
            raise ProblemError("y", f"{n} labels or targets for {task}", "None")
        return Labels("one class", np.empty(0), np.ones(n))
    given = label_vector("y", y)
    if given.size != n:
        raise ProblemError("y", f"{n} labels, one for each row of K", f"{given.size} labels")
    if given.dtype.kind in "fc" and not np.all(np.isfinite(given)):
        raise ProblemError("y", "finite labels", "NaN or infinite entries")
    if task == "regression" or (task is None and _are_targets(given)):
        targets = finite_array("y", given, (n,)).copy()
        largest = float(np.max(np.abs(targets), initial=0.0))
        if largest > checks.MAX_ENTRY:
            expected = f"targets of at most {checks.MAX_ENTRY:g}, or objectives overflow"
            raise ProblemError("y", expected, f"{largest:.3g}", "Scale the targets.")
        return Labels("regression", np.empty(0), targets)
    classes, values = _sorted_classes(given)
    if classes.size == 1 and task is None:
        hint = "Say task='one class' for one class, or task='regression' for targets."
        raise ProblemError("y", "labels of two classes or more", f"one ({classes[0]})", hint)
    return Labels(task or "classification", classes, values)


def _are_targets(given: NDArray[Any]) -> bool:
    """Whether labels are more than two numbers that are not all whole."""
    if given.dtype.hasobject and all(map(checks.is_number, given)):
        given = np.array(given.tolist())
    whole = given.dtype.kind != "f" or bool(np.all(given == np.round(given)))
    return not whole and np.unique(given).size > 2


def _sorted_classes(given: NDArray[Any]) -> tuple[NDArray[Any], Array]:
    """The different labels in sorting order, and the number of each label among them."""
    if given.dtype.kind in "if" and given.size:  # two numbers are found without sorting
        ends = np.array([given.min(), given.max()])
        upper = given == ends[1]
        if ends[0] < ends[1] and np.all(upper | (given == ends[0])):
            return ends, upper.astype(float)
    try:
        classes, numbers = np.unique(given, return_inverse=True)
        known = np.all(classes == classes)
    except TypeError:
        kinds = sorted({type(label).__name__ for label in given})
        raise ProblemError(
            "y", "labels of one type that can be sorted", f"labels of type {', '.join(kinds)}"
        ) from None
    if not known:  # NaN among objects, and numpy's NaT, differ from themselves
        raise ProblemError("y", "finite labels", "NaN")
    return classes, numbers.reshape(-1).astype(float)


def checked_labels(y: ArrayLike, n: int) -> tuple[NDArray[Any], Array]:
    """The two classes in sorting order, and y as -1.0 and +1.0."""
    found = labelled(y, n, "classification")
    if found.classes.size != 2:
        raise ProblemError("y", "labels of exactly two classes", classes_in_words(found.classes))
    return found.classes, found.signs


def classes_in_words(classes: NDArray[Any]) -> str:
    """The number of classes and the first five of them."""
    shown = ", ".join(map(str, classes[:5].tolist())) + (", ..." if classes.size > 5 else "")
    return f"{classes.size} ({shown})"


def power_near(sizes: Array) -> Array:
    """The power of two nearest to each size, for scaling without rounding; 1 for 0."""
    return np.exp2(np.round(np.log2(np.where(sizes == 0.0, 1.0, sizes))))


def tiles(count: int, size: int = TILE) -> Iterator[slice]:
    """0, ..., count - 1 in slices of length max(size, 1).

    >>> list(tiles(5, 2))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    size = max(size, 1)
    for first in range(0, count, size):
        yield slice(first, min(first + size, count))
