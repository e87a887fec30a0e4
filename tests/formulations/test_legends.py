"""A legend says what a letter means in the formulation that it belongs to."""

from __future__ import annotations

import indefinite_opt as iopt

K = [[1.0, 0.5, -1.0], [0.5, -1.0, 0.0], [-1.0, 0.0, 1.0]]
PROBLEMS = {
    "classification": iopt.KernelProblem(K, [1, 1, -1]),
    "regression": iopt.KernelProblem(K, [0.5, 1.0, -1.0]),
    "one class": iopt.KernelProblem([[0.0, 1.0], [1.0, 0.0]]),
}
SAID = {
    name: formulation.declare(PROBLEMS[formulation.task]).legend()
    for name in iopt.available_formulations()
    for formulation in [getattr(iopt, name)()]
}


def test_every_letter_of_the_package_has_a_meaning() -> None:
    unknown = {
        name: [k for k, told in said.items() if "constant" in told] for name, said in SAID.items()
    }
    assert {name: letters for name, letters in unknown.items() if letters} == {}


def test_a_letter_with_two_meanings_has_that_of_its_formulation() -> None:
    assert SAID["SVMDual"]["C"] == SAID["KSVM"]["C"] == "upper bound of each entry of α"
    assert SAID["LPSVM"]["C"] == SAID["SeparabilitySVM"]["C"] == "penalty of slack or loss"
    assert SAID["ConvexHullDual"]["μ"] == "upper bound of each entry of ᾱ"
    assert SAID["ConvexHullPrimal"]["μ"] == "penalty of slack"
    # The margins of the hulls are not compared with 1, but with the levels of two planes.
    assert "short of 1" in SAID["LPSVM"]["ξ"]
    assert "plane of its class" in SAID["ConvexHullPrimal"]["ξ"]
    assert "proxy" not in SAID["OneClassLP"]["ρ"] + SAID["OneClassLP"]["ξ"]
    assert SAID["SVMDual"]["α"] == "example weights"
    assert "either sign" in SAID["KernelLogistic"]["α"]
    assert "either sign" in SAID["SeparabilitySVM"]["α"]
