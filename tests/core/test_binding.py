"""What reaches C++: every wrong kind of array is refused by name, and structures are as in C++."""

from __future__ import annotations

import copy
import ctypes
import inspect
import os
import pickle
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from helpers.problems import gaussian
from helpers.processes import fresh
from indefinite_opt.core import (
    active_set,
    binding,
    conditions,
    descent,
    distances,
    exponential,
    library,
    norms,
    perturbation,
    rank_one,
    relaxation,
    symmetry,
)
from indefinite_opt.errors import BuildError, ParameterError, ProblemError

Entry = tuple[Callable[..., Any], dict[str, Any]]

N = 6


def of(**given: Any) -> dict[str, Any]:
    return given


def program_arguments() -> dict[str, Any]:
    K = gaussian(N, 3, 0.3)
    return of(
        K=K, diagonal=np.diagonal(K).copy(), h=1.0, y=np.resize([1.0, -1.0], N),
        group=np.zeros(N, np.int64), groups=1, lower=np.zeros(N), upper=np.ones(N),
    )  # fmt: skip


def program() -> descent.PairProgram:
    return descent.PairProgram(**program_arguments())


def point() -> descent.DescentPoint:
    return descent.DescentPoint(np.zeros(N), np.resize([1.0, -1.0], N))


def quadratic() -> active_set.Quadratic:
    ends = np.zeros(3), np.ones(3)
    return active_set.Quadratic(np.eye(2), np.ones(2), np.ones((1, 2)), *ends)


def indices(*numbers: int) -> np.ndarray:
    return np.array(numbers, np.int64)


def entries() -> dict[str, Entry]:
    """Every function that hands arrays to C++, with arguments that it takes."""
    points = np.arange(12.0).reshape(4, 3)
    squares = np.square(points).sum(axis=1)
    plan = perturbation.PerturbationPlan(1, 2, 0.0, 1e-3, 10, np.inf)
    return {
        "program": (descent.PairProgram, program_arguments()),
        "point": (descent.DescentPoint, of(alpha=np.zeros(N), v=np.ones(N))),
        "choose_block": (
            descent.choose_block,
            of(program=program(), point=point(), offset=0, members=indices(0, 0, 0, 0)),
        ),
        "spread": (
            descent.spread,
            of(K=np.eye(N), indices=indices(1, 2), amounts=np.ones(2), v=np.zeros(N)),
        ),
        "reduced_matrix": (
            descent.reduced_matrix,
            of(K=np.eye(N), slots=indices(1, 2, 4), columns=indices(1, 2, 4),
               reference=indices(2, 2, 2), matrix_=np.zeros((2, 2))),
        ),
        "perturb": (
            perturbation.perturb,
            of(program=program(), point=point(), linear=-np.ones(N), plan=plan,
               state=np.array([1], np.uint64)),
        ),
        "exponential": (exponential.exp, of(matrix=np.eye(3), factor=-1.0)),
        "row_norms": (norms.row_norms, of(K=np.eye(3))),
        "scan": (symmetry.scan, of(K=np.eye(3))),
        "part_program": (
            descent.PartProgram, program_arguments() | of(members=np.arange(N), K=np.eye(N)),
        ),
        "distances": (distances.distances, of(X=points, Z=points + 1.0, squared=True)),
        "squares_by_products": (
            distances.squares_by_products,
            of(X=points, Z=points, left=squares, right=squares),
        ),
    }  # fmt: skip


CHANGED = {"matrix", "alpha", "v", "members", "matrix_", "state"}
"""Arguments that are written to."""

FREE_SIZES = {
    ("point", "alpha"), ("choose_block", "members"), ("row_norms", "K"), ("exponential", "matrix"),
}  # fmt: skip
"""Arrays whose size says how large the problem is."""


def wrong(entry: str, name: str, array: np.ndarray) -> Iterator[tuple[str, Any]]:
    """Kinds of arrays that C++ would misread in place of this one."""
    real = array.dtype == np.float64
    yield "another type", array.astype(np.float32 if real else np.int32)
    yield "a list", array.tolist()
    yield "one dimension more", array[None]
    yield "one dimension less", array[0]
    swapped = array.astype(array.dtype.newbyteorder())
    yield "other bytes first", swapped
    if array.size > 1:
        spaced = np.repeat(array, 2, axis=-1)[..., ::2]
        yield "gaps", spaced
    bytes_ = np.zeros(array.nbytes + 1, np.uint8)
    misaligned = bytes_[1:].view(array.dtype).reshape(array.shape)
    misaligned[...] = array
    yield "not aligned", misaligned
    if (entry, name) not in FREE_SIZES:
        yield "too long", np.concatenate([array, array])
        yield "too short", array[:-1]
    if name in CHANGED:
        fixed = array.copy()
        fixed.setflags(write=False)
        yield "read-only", fixed
    if real and name not in ("matrix_",):
        broken = array.copy()
        broken[(0,) * array.ndim] = np.nan
        yield "NaN", broken
    if array.dtype == np.int64 and name not in CHANGED:
        for number in (-2, 10**6, np.iinfo(np.int64).max):
            outside = array.copy()
            outside[-1] = number
            yield f"the index {number}", outside


NO_REFUSAL = {
    ("exponential", "matrix", "NaN"),  # whose values are NaN as well
    ("row_norms", "K", "NaN"),  # the sums are NaN as well, and callers ask for that
    ("scan", "K", "NaN"), ("scan", "K", "another type"),  # it looks for NaN, and takes floats
    ("part_program", "K", "another type"), ("part_program", "members", "read-only"),
    ("point", "alpha", "NaN"), ("point", "v", "NaN"),  # when steps are made from it
    ("distances", "X", "too long"), ("distances", "Z", "too long"),
    ("distances", "X", "too short"), ("distances", "Z", "too short"),
    ("squares_by_products", "X", "too long"), ("squares_by_products", "Z", "too long"),
    ("spread", "K", "too long"), ("spread", "K", "too short"),
    ("reduced_matrix", "K", "too long"), ("reduced_matrix", "K", "too short"),
}  # fmt: skip
"""What is allowed, and why."""


@pytest.mark.parametrize("entry", entries())
def test_every_wrong_kind_of_array_is_refused_by_name(entry: str) -> None:
    function, given = entries()[entry]
    function(**given)
    arrays = [name for name, value in given.items() if isinstance(value, np.ndarray)]
    assert arrays
    for name in arrays:
        for kind, value in wrong(entry, name, given[name]):
            fresh = entries()[entry][1]
            if (entry, name, kind) in NO_REFUSAL:
                continue
            with pytest.raises(ProblemError) as caught:
                function(**(fresh | {name: value}))
            if not kind.startswith("too"):  # else it may be another array that does not fit
                assert caught.value.argument == name.removesuffix("_"), (entry, name, kind)


THEMES: tuple[ModuleType, ...] = (
    active_set, conditions, descent, distances, exponential, norms, perturbation, rank_one,
    relaxation, symmetry,
)  # fmt: skip

SHARED = {
    "Vector": binding.View,
    "Matrix": binding.Table,
    "Rows": binding.Rows,
    "Lent": binding.Lent,
}
"""Structures of all themes, by their names in C++."""


def structures() -> dict[str, type[ctypes.Structure]]:
    found = dict(SHARED)
    for theme in THEMES:
        for name, value in vars(theme).items():
            is_structure = inspect.isclass(value) and issubclass(value, ctypes.Structure)
            if is_structure and value.__module__ == theme.__name__:
                found[name.removesuffix("Structure")] = value
    return found


@pytest.mark.parametrize("name", structures())
def test_structures_are_the_same_in_both_languages(name: str) -> None:
    kind = structures()[name]
    fields = [field[0] for field in kind._fields_]
    offsets = [getattr(kind, field).offset for field in fields]
    assert library.layout(name, len(fields)) == [ctypes.sizeof(kind), *offsets]


def test_steps_need_a_point_of_the_program_its_rows_and_numbers() -> None:
    at, rule = program(), descent.SECOND_ORDER
    other = descent.DescentPoint(np.zeros(N + 1), np.ones(N + 1))
    with pytest.raises(ProblemError, match=f"point: expected {N} weights, got {N + 1}"):
        descent.pair_steps(at, other, rule, 1e-3, 1, 1.0)
    for broken in ("alpha", "v"):
        start = point()
        getattr(start, broken)[2] = np.nan
        with pytest.raises(ProblemError, match="point: expected numbers, got NaN"):
            descent.block_steps(at, start, 1e-3, 4, 0, 1, 1.0)
    without = descent.PairProgram(**program_arguments() | {"K": np.empty((0, N))})
    descent.choose_block(without, point(), 0, indices(0, 0))
    with pytest.raises(ProblemError, match=f"K: expected a matrix with {N} rows, got 0"):
        descent.pair_steps(without, point(), rule, 1e-3, 1, 1.0)
    for arguments in (
        (3, 1e-3, 1, 1.0), (rule, np.nan, 1, 1.0), (rule, -1e-3, 1, 1.0), (rule, 0.0, 1, np.nan),
    ):  # fmt: skip
        with pytest.raises(ProblemError):
            descent.pair_steps(at, point(), *arguments)
    for size, offset in ((1, 0), (4, N), (4, -1)):
        with pytest.raises(ProblemError):
            descent.block_steps(at, point(), 1e-3, size, offset, 1, 1.0)
    with pytest.raises(ProblemError, match="indices from 0 to 0, got indices from 0 to 1"):
        descent.PairProgram(**program_arguments() | {"groups": 0, "group": indices(1, *[0] * 5)})


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_steps_on_a_part_read_its_rows_when_they_are_needed(
    kind: type[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are those on the matrix of the part, bit by bit, and so is what is subtracted."""
    n, m = 40, 25
    whole = gaussian(n, 3, 0.3).astype(kind)
    members = np.random.default_rng(3).permutation(n)[:m]
    K = whole[np.ix_(members, members)].astype(np.float64)
    y = np.resize([1.0, -1.0, -1.0], m)
    given = of(
        diagonal=np.diagonal(K).copy(), h=1.0, y=y, group=np.zeros(m, np.int64), groups=1,
        lower=np.zeros(m), upper=np.ones(m),
    )  # fmt: skip
    for rule in (descent.SECOND_ORDER, descent.LIBSVM, descent.FIRST_ORDER):
        at = descent.PartProgram(K=whole, members=members, **given)
        for wrong_place in (-1, n):
            with pytest.raises(ProblemError, match="members: expected indices from 0 to 39"):
                descent.PartProgram(K=whole, members=np.full(m, wrong_place), **given)
        other = descent.PairProgram(K=K, **given)
        points = [descent.DescentPoint(np.zeros(m), y.copy()) for _ in "ab"]
        found = [
            descent.pair_steps(program, start, rule, 1e-9, 7, np.inf)
            for program, start in zip((at, other), points, strict=True)
        ]
        assert found[0] == found[1]
        np.testing.assert_array_equal(points[0].alpha, points[1].alpha)
        np.testing.assert_array_equal(points[0].v, points[1].v)
        moved = np.flatnonzero(points[0].alpha)
        left, right = np.zeros(m), np.zeros(m)
        at.subtract(moved, points[0].alpha[moved], left)
        descent.spread(K, moved, points[0].alpha[moved], right)
        np.testing.assert_array_equal(left, right)
        unread = int(np.flatnonzero(at.slots[:-1] < 0)[0])
        with pytest.raises(ProblemError, match="indices"):
            at.subtract(indices(unread), np.ones(1), left)
    monkeypatch.setattr(descent, "FIRST_ENTRIES", 3 * m)
    small, start, steps = descent.PartProgram(K=whole, members=members, **given), points[0], 0
    start.alpha[:], start.v[:] = 0.0, y
    assert len(small.part) == 3
    for room in (3, 12, m):
        assert len(small.part) == room
        found = descent.pair_steps(small, start, descent.FIRST_ORDER, 1e-9, 10**6, np.inf)
        steps += found.steps
        if not small.make_room():
            break
    assert found.state == descent.CONVERGED
    other_start = descent.DescentPoint(np.zeros(m), y.copy())
    expected = descent.pair_steps(other, other_start, descent.FIRST_ORDER, 1e-9, 10**6, np.inf)
    assert (steps, found.violation) == (expected.steps, expected.violation)
    np.testing.assert_array_equal(start.alpha, other_start.alpha)
    with pytest.raises(ProblemError, match=f"K: expected a matrix with {m} rows, got 0"):
        descent.block_steps(at, points[0], 1e-3, 4, 0, 1, 1.0)
    copied = pickle.loads(pickle.dumps(at))
    assert copied.slots[-1] == 0
    np.testing.assert_array_equal(copied.whole, whole)


def test_attributes_whose_arrays_are_in_use_cannot_be_replaced() -> None:
    at, poles = quadratic(), rank_one.Poles(np.zeros(1), indices(0, 0))
    for each in (program(), point(), at, active_set.State(at, np.ones(2), 0), poles):
        for name, value in vars(each).items():
            with pytest.raises(AttributeError, match=f"^{name} of a {type(each).__name__} "):
                setattr(each, name, value)
    assert at.with_objective(np.zeros(2)).q.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda each: pickle.loads(pickle.dumps(each))])
def test_copies_and_pickles_are_made_anew(copied: Callable[[Any], Any]) -> None:
    group = indices(0, 0, 0, 0, 1, 1)
    whole = descent.PairProgram(**program_arguments() | {"group": group})
    part = whole.on(indices(0, 2), np.array([[1.0, 0.5], [0.5, 1e-3]]))
    for at in (whole, part):
        start, other = (descent.DescentPoint(np.zeros(at.n), np.arange(at.n) + 0.0) for _ in "ab")
        new, copy_of_start = copied(at), copied(start)
        assert (new.tied, new.min_curvature) == (at.tied, at.min_curvature)
        found = descent.pair_steps(new, copy_of_start, descent.SECOND_ORDER, 1e-9, 9, np.inf)
        assert start.alpha.tolist() == [0.0] * at.n
        assert found == descent.pair_steps(at, other, descent.SECOND_ORDER, 1e-9, 9, np.inf)
        assert copy_of_start.alpha.tolist() == other.alpha.tolist()
    before = quadratic()
    after = copied(before)
    assert after.views.P.data == after.P.__array_interface__["data"][0] != before.views.P.data


@pytest.mark.parametrize("n", [0, 1])
def test_programs_of_no_weight_and_of_one(n: int) -> None:
    """One weight of an equality cannot move; one of none goes to its bound, where F = -1."""
    for groups, group, rules in ((1, 0, (0, 1, 2)), (0, 0, (0, 2))):
        at = descent.PairProgram(
            np.zeros((n, n)), np.zeros(n), 1.0, np.ones(n), np.full(n, group), groups,
            np.zeros(n), np.ones(n),
        )  # fmt: skip
        expected = [1.0 - groups] * n
        for rule in rules:
            start = descent.DescentPoint(np.zeros(n), np.ones(n))
            found = descent.pair_steps(at, start, rule, 0.0, 9, np.inf)
            assert (found.state, found.decrease) == (descent.CONVERGED, sum(expected))
            assert start.alpha.tolist() == expected
        start = descent.DescentPoint(np.zeros(n), np.ones(n))
        if groups:
            assert descent.choose_block(at, start, 0, indices(0, 0)) == (0, 0.0)
            assert descent.block_steps(at, start, 0.0, 2, 0, 9, np.inf)[0].steps == 0


def test_numbers_beyond_64_bits_are_the_largest() -> None:
    assert [binding.count(each) for each in (-(2**70), 3, 2**70)] == [0, 3, 2**62]
    found = descent.pair_steps(program(), point(), 0, 1e-9, 2**70, np.inf)
    assert found.state == descent.CONVERGED


def test_memory_is_kept_for_the_next_call_and_is_large_enough(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(binding, "KEPT_BYTES", 2**20)  # the checked build keeps none
    small = binding.lending(3, 5)
    assert small.end - small.next >= 8 * 8 + 2 * 64
    assert binding.lending(1) is small
    large = binding.lending(binding.KEPT_BYTES)
    assert large.owner.size > 8 * binding.KEPT_BYTES
    assert binding.lending(1) is small


def test_a_large_matrix_is_searched_for_nan_once() -> None:
    K = np.zeros((200, 200))
    fixed = K.view()
    fixed.setflags(write=False)
    binding.lasting_numbers(fixed, "K")
    K[0, 0] = np.nan  # which nobody may do; it shows that the entries are not read again
    binding.lasting_numbers(fixed, "K")
    with pytest.raises(ProblemError, match="K: expected numbers, got NaN"):
        binding.lasting_numbers(K, "K")
    del fixed
    assert not [known for known in binding._SEARCHED.values() if known() is None]


def test_the_variable_chooses_the_build() -> None:
    code = "from indefinite_opt.core import library\nprint(library.build)"
    for build in (library.GENERIC, str(library.path_of(library.GENERIC))):
        assert fresh(code, environment={library.VARIABLE: build}) == f"{build}\n"
    with pytest.raises(ParameterError, match="generic, avx2, or the path of a library, got 'fast'"):
        library.chosen("fast")


def test_without_a_library_the_error_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match=r"was not built.*pip install"):
        library.chosen("", tmp_path)
    path = library.path_of(library.GENERIC, tmp_path)
    path.write_text("no library")
    with pytest.raises(BuildError, match="cannot be loaded"):
        library.chosen("", tmp_path)
    path.unlink()
    shutil.copy(library.library._name, path)
    assert library.chosen(library.GENERIC, tmp_path)[0] == library.GENERIC
    (tmp_path / "views.h").write_text("// changed since")
    with pytest.raises(BuildError, match=r"is that of other sources.*compiler\.py"):
        library.chosen("", tmp_path)


def test_a_foreign_library_is_refused() -> None:
    from scipy.linalg import cython_blas

    with pytest.raises(BuildError, match="cannot be loaded"):
        library.chosen(cython_blas.__file__)


def test_functions_of_scipy_with_another_signature_are_refused() -> None:
    """As those of a SciPy with 64-bit integers have."""
    from scipy.linalg import cython_blas

    expected = "void (char *, double)"
    with pytest.raises(BuildError, match=r"cython_blas\.dsyrk: expected the signature void \(char"):
        library.scipy_pointer(cython_blas, "dsyrk", expected)


SIGNALLED = """
import signal
import numpy as np
from indefinite_opt.core import descent, perturbation

n = 400
g = np.random.default_rng(0)
A = g.standard_normal((n, n))
K, y = A + A.T, np.resize([1.0, -1.0], n)
program = descent.PairProgram(
    K, np.diagonal(K).copy(), 1.0, y, np.zeros(n, np.int64), 1, np.zeros(n), np.full(n, 1.0)
)

def point():
    return descent.DescentPoint(np.zeros(n), y.copy())

def perturb(steps, work):
    plan = perturbation.PerturbationPlan(10**9, 9, 0.0, 1.0, steps, work)
    perturbation.perturb(program, point(), -np.ones(n), plan, np.array([1], np.uint64))

calls = [
    lambda *limits: descent.block_steps(program, point(), 0.0, 64, 0, *limits),
    perturb,
    lambda *limits: descent.pair_steps(program, point(), 0, 0.0, *limits),
]
came = 0
for call in calls:
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 1e-4)
    try:
        for _ in range(10**6):
            call(1000, 1e7)
    except KeyboardInterrupt:
        came += 1
print(came)
"""


@pytest.mark.skipif(os.name != "posix", reason="timers that send signals are Unix's")
def test_signals_may_come_in_compiled_loops() -> None:
    assert fresh(SIGNALLED) == "3\n"
