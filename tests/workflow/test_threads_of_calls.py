"""Whole calls use one BLAS thread, whatever runs beside them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import indefinite_opt as iopt
from helpers.problems import gaussian, symmetric
from helpers.processes import fresh
from indefinite_opt.quadratic import answers
from indefinite_opt.quadratic.programs.paired_qp import PairedQP


def blas_threads() -> set[int]:
    """Of the libraries that can have more than one."""
    return {
        each["num_threads"] for each in threadpool_info()
        if each["user_api"] == "blas" and each.get("threading_layer") != "disabled"
    }  # fmt: skip


@pytest.mark.parametrize("K", [symmetric(40, 1), gaussian(40, 2, 1.0)], ids=["indefinite", "psd"])
def test_calls_use_one_blas_thread(K: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside a busy process two threads of the library wait for each other."""
    seen: list[set[int]] = []

    def spied(method: Any) -> Any:
        def spy(qp: PairedQP, *arguments: Any) -> Any:
            seen.append(blas_threads())
            return method(qp, *arguments)

        return spy

    # Of the solve, and of the certificate.
    monkeypatch.setattr(PairedQP, "at", spied(PairedQP.at))
    monkeypatch.setattr(answers, "attained", spied(answers.attained))
    problem = iopt.KernelProblem(K, np.resize([1, -1], 40))
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        result = iopt.solve(problem, iopt.SVMDual(), solver="smo")
        solved = len(seen)
        assert result.certificate.claim >= iopt.Claim.LOCAL
        certified = len(seen)
        iopt.verify(problem, iopt.SVMDual(), result.values)
        assert 0 < solved < certified < len(seen)
        assert all(each == {1} for each in seen)
        assert blas_threads() == before


FIRST_CALLS = """
import threading

import numpy as np
import indefinite_opt as iopt

def problem(seed):
    K = np.random.default_rng(seed).standard_normal((30, 30))
    return iopt.KernelProblem(K + K.T, np.resize([1, -1], 30))

def bracket(seed):
    found = iopt.bound(problem(seed), "SVMDual(C=1)", time_limit=None, max_nodes=2)
    return found.rigorous and found.lower <= found.upper and found.nodes > 0

def solution(seed):
    return iopt.solve(problem(seed), "SVMDual(C=1)").certificate.claim >= iopt.Claim.LOCAL

def fit(seed):
    X = np.random.default_rng(seed).standard_normal((40, 3))
    machine = iopt.IndefiniteSVC(kernel="sigmoid").fit(X, X[:, 0] > 0.0)
    return np.isfinite(machine.decision_function(X)).all()

calls = [bracket, solution, fit, bracket, solution, fit]
begin, right = threading.Barrier(len(calls)), []

def run(seed):
    begin.wait()
    right.append(bool(calls[seed](seed)))

threads = [threading.Thread(target=run, args=(seed,)) for seed in range(len(calls))]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(right.count(True))
"""


@pytest.mark.slow
def test_six_threads_of_a_fresh_process_end_as_one_does() -> None:
    """Each loads loops while others work."""
    assert fresh(FIRST_CALLS) == "6\n"


def test_a_bracket_does_not_depend_on_what_runs_beside_it() -> None:
    """With one thread and without a time limit, to the last bit."""

    def bracket(seed: int) -> tuple[Any, ...]:
        problem = iopt.KernelProblem(symmetric(24, seed), np.resize([1, -1], 24))
        found = iopt.bound(problem, "SVMDual(C=1)", time_limit=None, max_nodes=3, gap=1e-6)
        return found.lower, found.upper, found.nodes, found.iterations

    with threadpool_limits(1, user_api="blas"):
        alone = [bracket(seed) for seed in range(2)]
        with ThreadPoolExecutor(4) as executor:
            assert list(executor.map(bracket, (0, 1, 0, 1))) == 2 * alone
