"""Solvers print nothing of their own, and silence nobody else."""

from __future__ import annotations

import sys
import threading

import numpy as np
import pytest

import indefinite_opt as iopt
from indefinite_opt.solvers.external.osqp import _silent

# The minimum is in the interior, at (1/3, 1/3): there OSQP tells that it need not polish.
P, Q, ONES = [[2.0, 1.0], [1.0, 2.0]], [-1.0, -1.0], np.ones(2)


def test_osqp_prints_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("osqp")
    stream = sys.stdout
    x = iopt.solve_qp(P, Q, lb=0.0, ub=2.0, solver="osqp")
    assert x == pytest.approx([1 / 3, 1 / 3], abs=1e-6)
    assert sys.stdout is stream
    assert tuple(capfd.readouterr()) == ("", "")


def test_osqp_that_refuses_a_program_prints_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    """A Hessian of negative curvature ends in its setup."""
    osqp = pytest.importorskip("osqp")
    from scipy import sparse

    eye = sparse.eye(2, format="csc")
    with _silent(), pytest.raises(osqp.OSQPException):
        osqp.OSQP().setup(sparse.csc_matrix(np.diag([1.0, -1.0])), ONES, eye, -ONES, ONES)
    assert capfd.readouterr().out == ""


def test_other_threads_go_on_printing(capsys: pytest.CaptureFixture[str]) -> None:
    stream, entered, left = sys.stdout, threading.Event(), threading.Event()

    def solver() -> None:
        with _silent():
            print("a solver")
            entered.set()
            left.wait(10)
            print("a solver")

    thread = threading.Thread(target=solver)
    thread.start()
    assert entered.wait(10)
    print("heard")
    with _silent():
        print("another solver")
    print("heard again")
    left.set()
    thread.join()
    assert sys.stdout is stream
    assert capsys.readouterr().out == "heard\nheard again\n"
