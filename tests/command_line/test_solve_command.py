"""`solve` and `verify`: the numbers of the API, and a claim about any point."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import indefinite_opt as iopt
from helpers.commands import INDEFINITE, api_problem, complaint, printed, run, strict


def test_solve_prints_what_is_proved(folder: Path) -> None:
    text = printed("solve", folder / "points.npz", INDEFINITE)
    expected = iopt.solve(api_problem(folder / "points.npz", scaling="minmax"), INDEFINITE)
    assert text.startswith("points (n = 24), SVMDual, by multistart in ")
    assert expected.status.value in text
    assert " ".join(str(expected.certificate).split()) in " ".join(text.split())
    assert max(map(len, text.splitlines())) <= 80
    assert "\n  " + str(expected.certificate).split("\n  ")[-1] in text


def test_solve_tells_of_several_optima() -> None:
    """Haasdonk's Figure 3 has two local optima, 0.6667 and 0.8205."""
    command = ("solve", "haasdonk-figure3", "SVMDual(C=2)", "--kernel", "pseudo-euclidean(p=1)",
               "--scaling", "none")  # fmt: skip
    text = printed(*command)
    assert "ends of descents (how many): 0.820513 (" in text
    assert ", 0.666667 (" in text
    assert "--prove 10 seeks a proof of the global optimum" in text
    ends = [objective for objective, _ in strict(printed(*command, "--json"))["optima"]]
    assert ends == pytest.approx([32 / 39, 2 / 3])
    convex = printed(*command[:2], "SVMDual(C=2)", "--kernel", "gaussian")
    assert "brackets" not in convex


def test_solve_as_json_has_the_numbers_of_the_api(folder: Path) -> None:
    options = ("--scaling", "standard", "--tol", "1e-5", "--solver", "osqp")
    answer = strict(printed("solve", folder / "points.npz", "SpectrumSVM", "--json", *options))
    problem = api_problem(folder / "points.npz", scaling="standard")
    result = iopt.solve(problem, "SpectrumSVM", solver="osqp", tol=1e-5)
    certificate, numbers = result.certificate, ("bound", "gap", "relative_gap", "objective")
    assert (answer["problem"], answer["n"], answer["tol"]) == ("points", 24, 1e-5)
    assert answer["formulation"] == str(result.formulation)
    assert (answer["solver"], answer["status"]) == (result.solver, str(result.status))
    assert (answer["claim"], answer["gap_kind"]) == (certificate.claim.name, certificate.gap_kind)
    assert answer["reasons"] == list(certificate.reasons)
    assert answer["support"] == result.classifier.support.size
    assert answer["offset"] == pytest.approx(result.classifier.offset, rel=1e-9)
    for name in numbers:
        assert answer[name] == pytest.approx(getattr(certificate, name), rel=1e-9)
    nonconvex = strict(printed("solve", folder / "points.npz", INDEFINITE, "--json"))
    assert (nonconvex["claim"], nonconvex["bound"], nonconvex["gap"]) == ("LOCAL", None, None)
    answer = strict(printed("solve", folder / "points.npz", INDEFINITE, "--max-iter", 1, "--json"))
    assert (answer["status"], answer["iterations"]) == ("max_iter", 1)


@pytest.mark.parametrize(
    ("formulation", "ending"), [(INDEFINITE, "npz"), ("LPSVM(C=3)", "npz"), ("LPSVM(C=3)", "csv")]
)
def test_what_solve_writes_verifies_with_the_same_claim(
    formulation: str, ending: str, folder: Path, tmp_path: Path
) -> None:
    command, path = (folder / "points.npz", formulation), tmp_path / f"values.{ending}"
    solved = strict(printed("solve", *command, "--json", "--output", path))
    checked = strict(printed("verify", *command, path, "--json"))
    assert checked["claim"] == solved["claim"]
    assert checked["objective"] == pytest.approx(solved["objective"], rel=1e-12)
    if ending == "csv":
        assert path.read_text(encoding="utf-8").startswith("variable,index,value\n")


@pytest.fixture(scope="module")
def solved(folder: Path) -> iopt.workflow.Result:
    return iopt.solve(api_problem(folder / "points.npz", scaling="minmax"), INDEFINITE)


def test_verify_judges_the_point_and_not_its_source(
    folder: Path, solved: iopt.workflow.Result, tmp_path: Path
) -> None:
    """A nonconvex problem: LOCAL can be proved, GLOBAL cannot. NONE alone is an error."""
    command = ("verify", folder / "points.npz", INDEFINITE, tmp_path / "values.json")
    ladder = ["NONE", "FEASIBLE", "STATIONARY", "LOCAL", "GLOBAL"]
    for alpha, claim in (
        (solved.values["alpha"], "LOCAL"),
        (np.zeros(24), "FEASIBLE"),
        (np.full(24, 2.0), "NONE"),
    ):
        command[-1].write_text(json.dumps({"alpha": alpha.tolist()}), encoding="utf-8")
        outcome = run(*command, "--json")
        answer = strict(outcome.stdout)
        assert (answer["claim"], answer["bound"]) == (claim, None)
        assert outcome.exit_code == (claim == "NONE")
        for required in ladder:
            enough = ladder.index(claim) >= ladder.index(required)
            assert run(*command, "--require", required.lower()).exit_code == (not enough)
    assert "Did you mean GLOBAL" in complaint(*command, "--require", "globl")


def test_verify_with_a_bound_of_its_own(
    folder: Path, solved: iopt.workflow.Result, tmp_path: Path
) -> None:
    path = tmp_path / "values.npz"
    np.savez(path, alpha=solved.values["alpha"])
    command = ("verify", folder / "points.npz", INDEFINITE, path, "--bound", "--require", "GLOBAL")
    answer = strict(printed(*command, "--json"))
    assert (answer["claim"], answer["gap_kind"]) == ("GLOBAL", "global bracket")
    assert answer["bound"] >= answer["objective"] - 1e-12
    assert 0.0 <= answer["relative_gap"] <= 1e-6
    assert complaint(*command, "--time-limit", 0).startswith("time_limit: ")


def test_clusters_are_counted_and_listed() -> None:
    problem = iopt.KernelProblem.from_dataset(iopt.datasets.load("words"))
    clusters = iopt.solve(problem, "DominantSet").clusters
    told = strict(printed("solve", "words", "DominantSet", "--json"))
    assert told["clusters"] == clusters.tolist()
    inside = int(np.count_nonzero(clusters == 0))
    shown = printed("solve", "words", "DominantSet")
    assert f"clusters of {inside} points, {80 - inside} in none" in shown
