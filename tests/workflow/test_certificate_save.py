"""A certificate's bound as a file, checked by the standalone checker in exact arithmetic."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import indefinite_opt as iopt
from helpers.problems import random_problem
from indefinite_opt.quadratic.proof.proof_checker import FailedProof, check

SAVED = [
    ("gaussian", iopt.SVMDual(C=1.0), None),
    ("gaussian", iopt.SVMDual(C=np.inf), None),
    ("sigmoid", iopt.SVMDual(C=1.0), "global"),
    ("sigmoid", iopt.ConvexHullDual(), "global"),
    ("sigmoid", iopt.GuoSchuurmansLP(), None),
    ("sigmoid", iopt.LPSVM(C=1.0), None),
    ("sigmoid", iopt.SpectrumSVM(C=1.0), None),
    ("sigmoid", iopt.KSVM(C=1.0), None),
    ("sigmoid", iopt.LussDual(C=1.0, rho=1.0), None),
]


@pytest.mark.parametrize(("kernel", "formulation", "solver"), SAVED, ids=str)
def test_the_checker_proves_what_the_certificate_claims(
    kernel: str, formulation: iopt.Formulation, solver: str | None, tmp_path: Path
) -> None:
    """The exact bound is on the same side of the objective, and as near to it."""
    problem = random_problem(kernel, n=16, seed=4)
    certificate = iopt.solve(problem, formulation, solver=solver).certificate
    assert certificate.claim is iopt.Claim.GLOBAL
    path = certificate.save(tmp_path / "proof.json")
    proved, _ = check(json.loads(path.read_text()))
    size = max(abs(certificate.objective), 1e-3)
    assert abs(proved - certificate.objective) <= 2e-6 * size
    beyond = proved - certificate.objective
    maximised = formulation.declare(problem).sense == "maximize"
    assert (beyond if maximised else -beyond) >= -1e-9 * size


def test_what_has_no_proof_cannot_be_saved(tmp_path: Path) -> None:
    problem = random_problem("sigmoid", n=16, seed=4)
    local = iopt.solve(problem, iopt.SVMDual(C=1.0)).certificate
    smooth = iopt.solve(problem, iopt.KernelLogistic()).certificate
    for certificate in (local, smooth):
        with pytest.raises(iopt.errors.ParameterError, match="one with a proof"):
            certificate.save(tmp_path / "proof.json")
    assert not list(tmp_path.iterdir())


def test_a_step_cannot_enlarge_a_box(tmp_path: Path) -> None:
    """Outside its range a variable that is at an end would have a nonzero product of its shares."""
    problem = random_problem("sigmoid", n=16, seed=4)
    path = iopt.bound(problem, iopt.SVMDual(C=1.0)).save(tmp_path / "proof.json")
    document = json.loads(path.read_text())
    assert check(document)[0] > 0.0
    wider = {"rule": "rows", "lower": [[0, -1.0]], "upper": [[0, 2.0]]}
    document["proof"]["steps"].insert(0, wider)
    with pytest.raises(FailedProof, match="the lower end of variable 0 does not follow"):
        check(document)
    same = {"rule": "rows", "lower": [[0, 0.0]], "upper": [[0, 1.0]]}
    document["proof"]["steps"][0] = same
    assert check(document)[0] > 0.0
