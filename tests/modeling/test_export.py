"""Files that other solvers read: the same optimum and the same arrays come back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import highspy
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import Bounds, LinearConstraint, milp

import indefinite_opt as iopt
from helpers.problems import random_problem
from indefinite_opt.formulations import as_formulation
from indefinite_opt.quadratic.programs.paired_qp import PairedQP

LINEAR = ("LPSVM(C=3)", "GuoSchuurmansLP(beta=0.2)", "UniformWeights")
CONVEX = (
    "SVMDual(C=2)", "SVMDual(C=2, bias=False)", "ConvexHullDual(mu=0.3)",
    "GuoSchuurmansQP(beta=0.2)",
)  # fmt: skip
PROBLEM = random_problem("gaussian", n=16, seed=3)
INDEFINITE = random_problem("sigmoid", n=16, seed=3)


def read_back(path: Path) -> Any:
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    # HiGHS regularises Hessians by 1e-7 unless told otherwise, which would show below.
    highs.setOptionValue("qp_regularization_value", 1e-12)
    assert highs.readModel(str(path)) == highspy.HighsStatus.kOk
    return highs


@pytest.mark.parametrize("title", LINEAR + CONVEX)
def test_highs_reads_the_declared_optimum_back(title: str, tmp_path: Path) -> None:
    """Clarabel solves what cvxpy compiles from the declaration; HiGHS what the file says."""
    program = as_formulation(title).declare(PROBLEM)
    compiled = program.cvxpy(equivalent=True)
    compiled.solve(solver="CLARABEL")
    for suffix in (".lp", ".mps"):
        highs = read_back(program.export(tmp_path / f"model{suffix}"))
        maximised = highs.getObjectiveSense()[1] == highspy.ObjSense.kMaximize
        assert maximised == (program.sense == "maximize")
        highs.run()
        assert highs.getModelStatus() == highspy.HighsModelStatus.kOptimal
        # 1e-6: the files carry every digit, so this is the solvers' own tolerance.
        found = highs.getInfo().objective_function_value
        assert found == pytest.approx(float(compiled.value), rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("title", [*CONVEX[::2], "SVMDual(C=inf)", "SpectrumSVM(transform=flip)"])
def test_arrays_of_a_quadratic_program(title: str, tmp_path: Path) -> None:
    problem = INDEFINITE if "Spectrum" in title else PROBLEM
    stated = as_formulation(title).declare(problem)
    program = stated.compiled
    assert isinstance(program, PairedQP)
    with np.load(stated.export(tmp_path / "model.npz"), allow_pickle=False) as file:
        arrays = dict(file)
    assert set(arrays) == {"H", "q", "A", "b", "lower", "upper", "sense"}
    generator = np.random.default_rng(1)
    for _ in range(5):
        x = program.feasible.random_point(generator)
        value = 0.5 * x @ arrays["H"] @ x + arrays["q"] @ x
        assert value == pytest.approx(program.value(x), rel=1e-12)
        # At feasible points the declared objective is the same, in the declared sense.
        declared = stated.evaluate(program.values(x))[0]
        assert arrays["sense"] * value == pytest.approx(declared, rel=1e-10)
        assert_allclose(arrays["A"] @ x, arrays["b"], atol=1e-12)
    assert_array_equal(arrays["lower"], np.zeros(16))
    assert_array_equal(arrays["upper"], np.full(16, program.feasible.upper))


@pytest.mark.parametrize("title", LINEAR)
def test_arrays_of_a_linear_program(title: str, tmp_path: Path) -> None:
    """Solved again by scipy from nothing but the file."""
    formulation = as_formulation(title)
    with np.load(formulation.declare(PROBLEM).export(tmp_path / "model.npz")) as file:
        arrays = dict(file)
    assert set(arrays) == {"cost", "A", "row_lower", "row_upper", "lower", "upper", "sense"}
    rows = LinearConstraint(arrays["A"], arrays["row_lower"], arrays["row_upper"])
    bounds = Bounds(arrays["lower"], arrays["upper"])
    answer = milp(arrays["cost"], bounds=bounds, constraints=rows if arrays["A"].size else None)
    assert arrays["sense"] * answer.fun == pytest.approx(
        iopt.solve(PROBLEM, formulation, solver="clarabel").objective, rel=1e-6
    )


def test_arrays_of_other_programs(tmp_path: Path) -> None:
    """Those of Luss & d'Aspremont have no place in files of quadratic programs."""
    K, Q, y = INDEFINITE.K, INDEFINITE.Q, INDEFINITE.y
    radius = 2.0 * float(np.sum(np.minimum(np.linalg.eigvalsh(K), 0.0) ** 2))
    expected: dict[iopt.Formulation, dict[str, Any]] = {
        iopt.KernelLogistic(C=2.0): {"K": K, "C": 2.0},
        iopt.SeparabilitySVM(C=2.0): {"Q": Q, "R": np.eye(16)},
        iopt.SeparabilitySVM(C=2.0, identity=False): {"Q": Q, "R": Q},
        iopt.LussDual(C=2.0, rho=0.5): {"K0": K, "y": y, "C": 2.0, "rho": 0.5},
        iopt.LussBall(C=2.0, radius=radius): {"K0": K, "y": y, "C": 2.0, "radius": radius},
    }
    for formulation, parts in expected.items():
        program = formulation.declare(INDEFINITE)
        with np.load(program.export(tmp_path / "model.npz")) as arrays:
            assert parts.keys() <= set(arrays)
            for name, part in parts.items():
                assert_allclose(arrays[name], part, rtol=1e-12, err_msg=name)
        if "y" not in parts:
            continue
        for suffix in (".lp", ".mps"):
            with pytest.raises(iopt.errors.DataError, match="neither linear nor quadratic"):
                program.export(tmp_path / f"model{suffix}")
            assert not (tmp_path / f"model{suffix}").exists()


def test_constants_and_senses_come_back(tmp_path: Path) -> None:
    """max 7 - ½‖x‖² on eᵀx ≥ 2 is 6, and ‖Gα - e‖² of no weights is n."""
    qp = iopt.QuadraticProgram(
        -np.eye(2), G=[[-1.0, -1.0]], h=[-2.0], lb=-3.0, ub=3.0, sense=-1, constant=7.0
    )
    squares = iopt.KSVM(C=1e-3).declare(INDEFINITE)
    none = np.zeros(16)
    for suffix in (".lp", ".mps", ".npz"):
        path = tmp_path / f"model{suffix}"
        read = iopt.QuadraticProgram.read(qp.declare().export(path))
        assert (read.sense, iopt.solve(read).objective) == (-1, pytest.approx(6.0, abs=1e-6))
        same = iopt.QuadraticProgram.read(squares.export(path)).declare()
        assert same.evaluate({"x": none})[0] == squares.evaluate({"alpha": none})[0] == 16.0


def test_a_path_that_cannot_be_written(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    program = iopt.LPSVM().declare(PROBLEM)
    for suffix in (".lp", ".mps", ".npz"):
        folder = tmp_path / f"folder{suffix}"
        folder.mkdir()
        for path in (tmp_path / "absent" / f"model{suffix}", str(folder)):
            with pytest.raises(iopt.errors.DataError, match="can be written"):
                program.export(path)
    for name in ("model.txt", "model", "model.lp.gz"):
        with pytest.raises(iopt.errors.DataError, match=r"\.lp, \.mps or \.npz"):
            program.export(tmp_path / name)
        assert not (tmp_path / name).exists()
    assert capfd.readouterr().out == ""
