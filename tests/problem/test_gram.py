"""Kernel matrices as solvers read them: whole, and row by row."""

from __future__ import annotations

import math
import pickle
import tracemalloc
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import indefinite_opt as iopt
from helpers.problems import random_problem
from helpers.threads import run_together
from indefinite_opt.errors import ProblemError
from indefinite_opt.problem import kernel_problem
from indefinite_opt.problem.kernel_matrix import RowGram
from indefinite_opt.problem.kernels import Custom
from indefinite_opt.quadratic.answers import paired_bounds
from indefinite_opt.quadratic.matrices.gram import DenseGram
from indefinite_opt.studies.baselines.rvm import RVM

EPS = float(np.finfo(np.float64).eps)

KERNELS = [
    "linear", "polynomial(degree=2)", "gaussian", "sigmoid(a=0.2, r=-1)", "l1-gaussian",
    "epanechnikov", "simpson", "distance(distance=chebyshev, form=linear)", "pseudo-euclidean(p=2)",
    "tl1", "tl1(rho=5)", "distance(distance=euclidean, form=exponential)",
]  # fmt: skip


def points(n: int, d: int = 5, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((n, d))


LABELS = np.resize([1, -1, -1], 3000)


class Counting:
    """A Gaussian that records the first coordinates of the points on its left."""

    def __init__(self) -> None:
        self.calls: list[list[float]] = []

    def __call__(self, X: np.ndarray, Z: np.ndarray) -> np.ndarray:
        self.calls.append(X[:, 0].tolist())
        return np.exp(-np.square(X[:, None, :] - Z[None, :, :]).sum(axis=2))

    def taken(self) -> list[list[float]]:
        """The calls since the last time this was asked."""
        calls, self.calls = self.calls, []
        return calls


def line(n: int, rows: int) -> tuple[RowGram, Counting, np.ndarray]:
    """The points 0, ..., n - 1 with room for some rows, and the matrix by its formula."""
    counting = Counting()
    x = np.arange(float(n))
    gram = RowGram(x[:, None], counting, cache_mb=(rows + 0.5) * 8e-6 * n)
    assert gram.capacity == rows
    counting.taken()
    return gram, counting, np.exp(-np.square(np.subtract.outer(x, x)))


@pytest.mark.parametrize("kernel", KERNELS)
def test_rows_on_demand_are_those_of_the_matrix(kernel: str) -> None:
    """Rounding of a product of d = 5 terms: a few eps of the largest entry."""
    X = points(70)
    K = iopt.kernels.get(kernel)(X)
    rounding = 20.0 * EPS * np.abs(K).max()
    gram = RowGram(X, kernel, cache_mb=9.5 * 8e-6 * 70)
    assert (gram.n, gram.capacity, gram.on_demand) == (70, 9, True)
    assert_allclose(gram.diagonal, np.diag(K), atol=rounding)
    assert gram.largest == pytest.approx(np.abs(K).max(), rel=20.0 * EPS)
    some, others = np.array([5, 2, 68]), np.array([1, 2])
    assert_allclose(gram.block(some, others), K[np.ix_(some, others)], atol=rounding)
    generator = np.random.default_rng(1)
    for support in (0, 12, 70):
        x = np.zeros(70)
        x[generator.choice(70, support, replace=False)] = generator.standard_normal(support)
        size = max(np.abs(x).sum(), 1.0)
        assert_allclose(gram.times(x), K @ x, atol=rounding * size)
        assert_allclose(DenseGram(K).times(x), K @ x, atol=rounding * size)


@settings(max_examples=12)
@given(data=st.data())
def test_the_cache_never_confuses_rows(data: st.DataObject) -> None:
    """Requests of any size, with products between them that must not disturb what is kept."""
    gram, counting, K = line(12, rows=5)
    v, expected = np.zeros(12), np.zeros(12)
    for _ in range(data.draw(st.integers(1, 15))):
        wanted = data.draw(st.lists(st.integers(0, 11), max_size=8, unique=True))
        indices, amounts = np.array(wanted, np.intp), 1.0 + np.arange(len(wanted))
        kept = np.flatnonzero(gram._slot_of >= 0)
        counting.taken()
        gram.spread(indices, amounts, v)
        computed = [x for call in counting.taken() for x in call]
        assert sorted(computed) == sorted(set(wanted) - set(kept))
        expected -= amounts @ K[indices]
        assert_allclose(v, expected, rtol=1e-13, atol=1e-13)
        assert_allclose(gram.times(np.ones(12)), K.sum(axis=0), rtol=1e-14)
        assert np.sum(gram._slot_of >= 0) == np.sum(gram._row_in >= 0) <= 5


@pytest.mark.parametrize(
    ("kernel", "room"), [("gaussian", 40), ("sigmoid(a=0.2, r=-1)", 3), ("custom", 300)]
)
def test_spread_subtracts_rows_from_a_vector(kernel: str, room: int) -> None:
    """By the matrix itself; rows that come back or not."""
    n, generator = 1100, np.random.default_rng(3)
    X = points(n)
    formula = iopt.kernels.get("gaussian" if kernel == "custom" else kernel)
    K = formula(X)
    gram = RowGram(X, formula.evaluate if kernel == "custom" else formula, 8e-6 * n * (room + 0.5))
    assert gram.capacity == room
    v, expected, size, seen = np.zeros(n), np.zeros(n), 0.0, 0.0
    for count in (1, 70, 200, 70, 3):
        indices = generator.choice(220, count, replace=False)
        amounts = generator.standard_normal(count)
        gram.spread(indices, amounts, v)
        expected -= amounts @ K[indices]
        size += np.abs(amounts).sum()
        seen = max(seen, np.abs(K[indices]).max())
        assert_allclose(v, expected, atol=40.0 * EPS * size)
        assert gram.largest_read >= (1.0 - 10.0 * EPS) * seen
    x = np.where(np.arange(n) < 250, 1.0, 0.0)
    assert_allclose(gram.times(x), K @ x, atol=40.0 * EPS * 250)


def test_some_columns_of_rows_are_spread_and_some_entries_written() -> None:
    X = points(50)
    K = iopt.kernels.get("gaussian")(X)
    gram = RowGram(X, "gaussian", cache_mb=1.0)
    rows, columns = np.array([3, 40, 7]), np.array([49, 0, 11, 7])
    v, target = np.zeros(50), np.full((6, 5), np.nan)
    gram.spread(rows, np.array([1.0, -2.0, 0.5]), v, columns)
    gram.write(rows, columns, target, np.array([5, 0, 2]))
    assert_allclose(v[columns], -(K[3] - 2.0 * K[40] + 0.5 * K[7])[columns], atol=1e-14)
    assert_allclose(target[[5, 0, 2], :4], K[np.ix_(rows, columns)], atol=1e-14)
    assert np.isnan(target[[1, 3, 4]]).all()
    assert np.isnan(target[:, 4]).all()
    # No columns of a kernel that is computed row by row.
    gram, counting, _ = line(10, rows=2)
    none = np.empty(0, np.intp)
    gram.write(np.array([1, 2]), none, np.empty((2, 0)), np.array([0, 1]))
    assert gram.block(none, np.arange(10)).shape == (0, 10)
    assert counting.taken() == []


def test_a_full_cache_gives_up_idle_rows_only() -> None:
    gram, counting, _ = line(10, rows=3)
    v = np.zeros(10)
    gram.spread(np.array([0, 1]), np.ones(2), v)
    gram.spread(np.array([2, 3, 4]), np.ones(3), v)
    assert np.flatnonzero(gram._slot_of >= 0).tolist() == [0, 1, 2]
    for _ in range(7):
        gram.spread(np.array([2, 5]), np.ones(2), v)
    assert np.flatnonzero(gram._slot_of >= 0).tolist() == [1, 2, 5]
    counting.taken()
    gram.spread(np.array([1, 2, 5]), np.ones(3), v)
    assert counting.taken() == []


def test_memory_that_is_reserved_is_not_filled_with_rows() -> None:
    gram, _, K = line(10, rows=8)
    gram.reserve(5 * 10 * 8 - 1)  # five rows of ten numbers of eight bytes, or a little less
    for _ in range(6):
        gram.spread(np.arange(6), np.ones(6), np.zeros(10))
    assert np.flatnonzero(gram._slot_of >= 0).tolist() == [0, 1, 2]
    gram.reserve(100 * 10 * 8)
    v = np.zeros(10)
    gram.spread(np.array([7]), np.ones(1), v)
    assert_allclose(v, -K[7], rtol=1e-15)


def test_a_row_that_fails_leaves_the_cache_sound() -> None:
    def kernel(X: np.ndarray, Z: np.ndarray) -> np.ndarray:
        values = X @ Z.T
        values[X[:, 0] == 99.0] = bad
        return values

    bad = 1.0
    X = np.append(np.arange(98.0), 99.0)[:, None]
    X[-1] = 0.5  # not yet the point that fails, so that the sample passes
    gram = RowGram(X, kernel, cache_mb=8e-6 * 99 * 2)
    gram.points[-1] = 99.0
    bad = np.nan
    some, v = np.array([1, 2]), np.zeros(99)
    gram.spread(some, np.ones(2), v)
    for _ in range(7):
        with pytest.raises(ProblemError, match="K: expected finite values"):
            gram.spread(np.array([98, 1]), np.ones(2), np.zeros(99))
    gram.spread(some, np.ones(2), v)
    assert_array_equal(v, -6.0 * gram.points[:, 0])


@pytest.mark.parametrize(
    "function",
    [
        lambda X, Z: np.subtract.outer(X[:, 0], Z[:, 0]),
        lambda X, Z: X @ Z.T * (1.0 + 1e-7 * X[:, :1]),
        lambda X, Z: X @ Z.T / np.abs(X @ Z.T).max(),  # of this block, whichever it is
        lambda X, Z: X @ (Z - Z.mean(axis=0)).T,
    ],
)
def test_a_kernel_that_depends_on_order_or_company_is_refused(function) -> None:
    for n in (2, 12, 100):
        with pytest.raises(ProblemError, match=r"to be symmetric.*whatever other points"):
            RowGram(points(n), function)


def test_what_a_cache_needs() -> None:
    with pytest.raises(iopt.errors.ParameterError, match=r"at least 0\.000144 megabytes, two rows"):
        RowGram(points(9), "linear", cache_mb=1e-4)
    assert RowGram(points(9), "linear", cache_mb=1.5e-4).capacity == 2
    with pytest.raises(ProblemError, match="X: expected a finite matrix"):
        RowGram([[0.0], [np.nan]], "linear")
    with pytest.raises(ProblemError, match="K: expected finite values"):
        RowGram([[1e200], [1e200]], "linear")


def test_rows_on_demand_stay_within_their_memory() -> None:
    """n = 3000: the matrix takes 72 MB, the cache 8."""
    n = 3000
    X, x = points(n), np.ones(n)
    tracemalloc.start()
    problem = iopt.KernelProblem.from_data(X, LABELS, "sigmoid", cache_mb=8)
    gram = problem.gram
    assert gram.largest <= 1.0
    assert gram.diagonal.shape == (n,)
    for i in range(0, 600, 2):
        gram.spread(np.array([i, i + 1]), np.ones(2), x)
    assert np.isfinite(gram.times(x)).all()
    result = iopt.verify(problem, iopt.SVMDual(C=1e-3), {"alpha": np.zeros(n)})
    assert result.claim is iopt.Claim.FEASIBLE
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 24e6


def on_demand(kernel: str = "gaussian", **options: object) -> iopt.KernelProblem:
    """The problem of `random_problem(kernel, n=40, seed=1)` without its matrix.

    The kernel is a function of which no theorem is known.
    """
    whole = random_problem(kernel, n=40, seed=1)
    function = Custom(iopt.kernels.get(kernel).values)
    return iopt.KernelProblem.from_data(whole.X, whole.labels, function, cache_mb=0.01, **options)


def test_what_needs_the_whole_matrix_says_so() -> None:
    problem = on_demand()
    for needs_the_matrix in (
        lambda p: p.K, lambda p: p.Q, lambda p: p.spectrum, lambda p: p.centered,
        lambda p: p.signature, lambda p: p.squared_distances, lambda p: p.zero_tolerance,
        lambda p: p.is_psd, lambda p: p.is_conditionally_psd, lambda p: p.negative_direction(1),
        lambda p: p.transformed("clip"), iopt.theory.embed, iopt.theory.diagnose,
        lambda p: iopt.solve(p, "LPSVM"), lambda p: iopt.solve(p, "GuoSchuurmansLP"),
        lambda p: iopt.SpectrumSVM().program(p), lambda p: RVM().fit(p),
        iopt.theory.loosli_proposition_3_1, lambda p: p.perturbed(0.1),
    ):  # fmt: skip
        with pytest.raises(ProblemError, match=r"computed on demand.*cache_mb=math.inf"):
            needs_the_matrix(problem)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda p: iopt.solve(p, "SVMDual", solver="dca"),
         r"dca cannot solve SVMDual on this problem: it needs the eigenvalues of the whole "
         r"kernel matrix, which is never formed\. Solvers that can: multistart, smo"),
        (lambda p: iopt.solve(p, "SVMDual", solver="smo-lin-lin"), "in memory, and this one is"),
        (lambda p: iopt.solve(p, "SVMDual", solver="osqp"), "was not examined: its kernel matrix"),
        (lambda p: iopt.solve(p, "SVMDual", solver="global"),
         "whole kernel matrix.*cache_mb=math.inf forms"),
        (lambda p: iopt.bound(p, "SVMDual"), "whole kernel matrix.*cache_mb=math.inf forms"),
        (lambda p: iopt.verify(p, "SVMDual", {"alpha": np.zeros(40)}, bound=True),
         "whole kernel matrix.*cache_mb=math.inf forms"),
    ],
)  # fmt: skip
def test_solvers_and_brackets_that_need_the_whole_matrix_say_so(call, words: str) -> None:
    with pytest.raises(iopt.errors.IncompatibleSolver, match=words):
        call(on_demand("sigmoid"))


@pytest.mark.parametrize(
    ("formulation", "name"),
    [
        (iopt.SVMDual(C=2.0), "alpha"),
        (iopt.SVMDual(C=np.inf), "alpha"),
        (iopt.ConvexHullDual(mu=0.3), "alphabar"),
    ],
    ids=str,
)
def test_certificates_claim_no_more_without_the_matrix(formulation, name: str) -> None:
    """A convex optimum from another solver is GLOBAL with the matrix, and LOCAL without it."""
    whole, problem = random_problem("gaussian", n=40, seed=1), on_demand()
    values = iopt.solve(whole, formulation, solver="clarabel", tol=1e-9).values
    known = iopt.verify(whole, formulation, values)
    unknown = iopt.verify(problem, formulation, values)
    assert known.claim is iopt.Claim.GLOBAL
    assert unknown.claim is iopt.Claim.LOCAL
    assert [problem.is_convex(lines) for lines in range(3)] == [False] * 3
    assert (problem.curvature_known, whole.curvature_known) == (False, True)
    assert problem.class_mean_distance == pytest.approx(whole.class_mean_distance, rel=1e-12)
    assert unknown.objective == pytest.approx(known.objective, rel=1e-12)
    assert unknown.stationarity == pytest.approx(known.stationarity, abs=1e-12)
    assert np.isinf(unknown.bound)
    assert unknown.gap_kind == "KKT residual"
    assert "Convexity was not examined, as the kernel matrix is never formed" in str(unknown)
    assert "Not convex" not in str(unknown)
    by_rows = formulation.classifier(problem, values)
    by_matrix = formulation.classifier(whole, values)
    assert by_rows.offset == pytest.approx(by_matrix.offset, abs=1e-10)
    assert_array_equal(by_rows.coef, by_matrix.coef)


def test_a_hard_margin_without_optimum_is_found_by_rows() -> None:
    X = [[0.0, 2.0], [3.0, 0.0], [1.0, 1.0], [0.0, 1.0]]  # d²(x_0, x_1) = 9 - 4 in R^(1,1)
    for y in ([1, 1, -1, -1], [1, -1, 1, -1]):
        problem = iopt.KernelProblem.from_data(X, y, "pseudo-euclidean", cache_mb=1)
        with pytest.raises(iopt.errors.UnboundedProblem, match="points 0 and 3"):
            iopt.SVMDual(C=np.inf).program(problem)


@pytest.mark.parametrize("scaling", [None, "minmax"])
def test_a_split_computes_rows_too(scaling: str | None) -> None:
    train, test = np.arange(30), np.arange(30, 40)
    split = on_demand("sigmoid", scaling=scaling).split(train, test)
    whole = random_problem("sigmoid", n=40, seed=1)
    dense = iopt.KernelProblem.from_data(whole.X, whole.labels, "sigmoid", scaling=scaling)
    expected = dense.split(train, test)
    assert not split.problem.curvature_known
    assert split.problem.cache_mb == 0.01
    for ours, theirs in (
        (split.problem.gram.block(train, train), expected.problem.K),
        (split.K_new, expected.K_new), (split.K_new_new(), expected.K_new_new()),
    ):  # fmt: skip
        assert_allclose(ours, theirs, atol=10.0 * EPS)
    assert_array_equal(split.labels, expected.labels)


def test_rows_on_demand_are_right_in_threads() -> None:
    """Four threads read and give up rows of one cache, which is right then and afterwards."""
    n = 60
    X = np.random.default_rng(0).standard_normal((n, 3))
    gram = RowGram(X, "gaussian(gamma=0.5)", 8e-6 * n * 10)
    K, wrong = DenseGram.of_own(np.array(gram.kernel(X))).matrix, []

    def work(seed: int) -> None:
        generator = np.random.default_rng(seed)
        for _ in range(150):
            chosen, v = generator.choice(n, 2, replace=False), np.zeros(n)
            gram.spread(chosen, np.ones(2), v)
            product = gram.times(np.eye(n)[chosen[0]])
            off = max(np.abs(v + K[chosen].sum(axis=0)).max(), np.abs(product - K[chosen[0]]).max())
            if off > 1e-12:
                wrong.append(off)

    run_together(partial(work, seed) for seed in range(4))
    assert not wrong
    again = pickle.loads(pickle.dumps(gram))
    for each in (gram, again):
        assert np.abs(each.times(np.ones(n)) - K.sum(axis=0)).max() < 1e-12


def test_many_points_have_rows_on_demand_unless_asked_otherwise(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    X = points(60)
    monkeypatch.setattr(kernel_problem, "MOST_FORMED", 50)
    y = LABELS[:60]
    many = iopt.KernelProblem.from_data(X, y, "gaussian")
    formed = iopt.KernelProblem.from_data(X, y, "gaussian", cache_mb=math.inf)
    assert (many.gram.on_demand, formed.gram.on_demand) == (True, False)
    first, second = (iopt.solve(problem, iopt.SVMDual(C=1.0)) for problem in (many, formed))
    assert first.objective == pytest.approx(second.objective, rel=1e-6)
    assert first.certificate.claim is second.certificate.claim is iopt.Claim.GLOBAL
    few = many.split(np.arange(40), np.arange(40, 60)).problem
    assert not few.gram.on_demand
    assert few.gram.block(np.arange(40), np.arange(40)) == pytest.approx(formed.K[:40, :40])
    for name, result in (("many", first), ("formed", second)):
        loaded = iopt.load(result.save(tmp_path / f"{name}.npz")).problem
        assert loaded.gram.on_demand == (name == "many")


def test_sums_of_rows_bound_the_norm_of_a_matrix_that_is_not_formed() -> None:
    X, y = points(150, 8, seed=3), LABELS[:150]
    problem = iopt.KernelProblem.from_data(X, y, "gaussian(gamma=0.5)", cache_mb=0.1)
    K = iopt.KernelProblem.from_data(X, y, "gaussian(gamma=0.5)").K
    summed = problem.with_sums()
    assert summed is not None
    assert summed.gram.norm == pytest.approx(np.abs(K).sum(axis=1).max(), rel=1e-9)
    assert np.linalg.norm(K, 2) <= summed.gram.norm < 0.1 * problem.gram.norm
    assert summed.zero_tolerance < 0.1 * problem.zero_tolerance
    assert iopt.KernelProblem.from_data(X, y, "sigmoid", cache_mb=0.1).with_sums() is None
    # One cache serves both.
    row = np.zeros(150)
    problem.gram.spread(np.array([3, 5]), np.ones(2), row)
    assert summed.gram.block(np.array([3]), np.arange(150)) == pytest.approx(K[3:4])


def test_a_bound_loses_less_to_rounding_with_the_sums_of_rows() -> None:
    X, y = points(150, 8, seed=3), LABELS[:150]
    problem = iopt.KernelProblem.from_data(X, y, "gaussian(gamma=0.5)", cache_mb=0.1)
    result = iopt.solve(problem, iopt.SVMDual(C=1e4), tol=1e-10)
    program: Any = result.program
    point = program.at(program.from_values(result.values))
    without, with_sums = (
        paired_bounds.dual_bound(each, point.x, point.gradient)
        for each in (program, program.on(problem.with_sums()))
    )
    assert without < with_sums <= point.value + 1e-12 * abs(point.value)
