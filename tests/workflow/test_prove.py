"""Proofs on request: a bracket that follows a local solution, whose certificate has its bound."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import indefinite_opt as iopt
from helpers.problems import symmetric
from helpers.processes import HANGS
from indefinite_opt.quadratic import at_most
from indefinite_opt.workflow import solving

LOCAL_OPTIMUM, OPTIMUM = 2 / 3, 0.8205128205128205
"""Of Haasdonk's Figure 3 with C = 2."""


def figure_3() -> iopt.KernelProblem:
    data = iopt.datasets.load("haasdonk-figure3")
    return iopt.KernelProblem.from_data(data.X, data.y, "pseudo-euclidean(p=1)")


def test_a_local_optimum_is_proved_to_be_global() -> None:
    problem = figure_3()
    plain = iopt.solve(problem, "SVMDual(C=2)")
    assert plain.bracket is None
    assert plain.certificate.claim is iopt.Claim.LOCAL
    proved = iopt.solve(problem, "SVMDual(C=2)", prove=HANGS)
    assert proved.bracket is not None
    assert proved.certificate.claim is iopt.Claim.GLOBAL
    assert proved.objective == pytest.approx(OPTIMUM, rel=1e-9)
    assert proved.certificate.gap_kind == "global bracket"
    assert proved.bracket.check(problem) >= OPTIMUM - 1e-9
    assert proved.certificate.proved_within <= 1e-6


def test_a_better_point_takes_the_place_of_the_solvers() -> None:
    problem = figure_3()
    poor = next(
        one.values["alpha"]
        for one in (
            iopt.solve(problem, "SVMDual(C=2)", "smo", start=start)
            for start in np.random.default_rng(0).uniform(0.0, 2.0, (20, problem.n))
        )
        if abs(one.objective - LOCAL_OPTIMUM) < 1e-6
    )
    result = iopt.solve(problem, "SVMDual(C=2)", "smo", start=poor, prove=HANGS)
    assert result.objective == pytest.approx(OPTIMUM, rel=1e-9)
    assert result.certificate.claim is iopt.Claim.GLOBAL
    assert "branch and bound found a better point" in result.message
    # Offset and classifier are those of the new point.
    other = iopt.solve(problem, "SVMDual(C=2)", prove=HANGS)
    assert result.classifier.offset == pytest.approx(other.classifier.offset, abs=1e-6)


def test_an_open_bracket_says_within_which_gap_and_what_would_help() -> None:
    problem = iopt.KernelProblem(symmetric(100, 0), np.resize([-1, 1], 100))
    certificate = iopt.solve(problem, iopt.SVMDual(C=1.0), prove=0.1).certificate
    within = certificate.proved_within
    assert certificate.claim is iopt.Claim.LOCAL
    assert str(certificate).startswith(f"LOCAL, proved within {at_most(within)}: the point")
    assert "more time" in str(certificate)
    assert certificate.bound >= certificate.objective
    gap = certificate.bound - certificate.objective
    assert within == pytest.approx(gap / certificate.objective, rel=1e-6)


def test_a_bound_is_rounded_up() -> None:
    for share in np.random.default_rng(1).uniform(-12.0, -0.5, 200):
        text = at_most(10.0**share)
        assert re.fullmatch(r"[1-9]e-[0-9]+", text)
        assert 10.0**share <= float(text) * (1.0 + 1e-15) <= 2.0 * 10.0**share * (1.0 + 1e-12)


def test_convex_programs_need_no_bracket() -> None:
    X, y = np.random.default_rng(2).normal(size=(20, 2)), np.resize([0, 1], 20)
    problem = iopt.KernelProblem.from_data(X, y, "gaussian")
    for formulation in ("SVMDual", "LPSVM", "LussDual"):
        result = iopt.solve(problem, formulation, prove=HANGS)
        assert result.bracket is None
        assert result.certificate.claim is iopt.Claim.GLOBAL


def test_what_cannot_be_bracketed_says_why() -> None:
    X, y = np.random.default_rng(3).normal(size=(20, 2)), np.resize([0, 1], 20)
    problem = iopt.KernelProblem.from_data(X, y, "sigmoid(a=1, r=-1)", cache_mb=1.0)
    certificate = iopt.solve(problem, "SVMDual(C=10)", prove=1).certificate
    assert certificate.claim is iopt.Claim.LOCAL
    assert "cache_mb=math.inf" in str(certificate)


def test_every_pair_of_classes_and_quadratic_programs_are_proved() -> None:
    X = np.random.default_rng(4).normal(size=(18, 2))
    problem = iopt.KernelProblem.from_data(X, np.resize([0, 1, 2], 18), "sigmoid(a=1, r=-1)")
    path = iopt.solve_path(problem, ["SVMDual(C=1)", "SVMDual(C=2)"], prove=HANGS)
    for entry in path:
        assert entry.claim is iopt.Claim.GLOBAL
        assert entry.proved_within <= 1e-6
    P = np.array([[1.0, 3.0, 0.0], [3.0, -2.0, 1.0], [0.0, 1.0, -1.0]])
    qp = iopt.QuadraticProgram(P, [-1, 0, 1], G=[[1, 1, 1]], h=[1], lb=-1, ub=2)
    result = iopt.solve(qp, prove=HANGS)
    assert (result.certificate.claim.name, round(result.objective, 9)) == ("GLOBAL", -12.0)


def test_a_search_that_a_callback_stops_is_not_followed_by_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(solving, "GlobalSearch", pytest.fail)
    result = iopt.solve(figure_3(), "SVMDual(C=2)", prove=1, callback=lambda trace: True)
    assert result.status is iopt.Status.INTERRUPTED


def test_comparisons_prove_the_fits_that_are_tested_only(monkeypatch: pytest.MonkeyPatch) -> None:
    searches = []

    class Counted(solving.GlobalSearch):  # type: ignore[name-defined, misc]
        def run(self) -> iopt.Status:
            searches.append(self.n)
            return super().run()

    monkeypatch.setattr(solving, "GlobalSearch", Counted)
    problem = figure_3()
    comparison = iopt.compare(
        problem, ["SVMDual", "KNN"], folds=2, grid={"C": [1.0, 2.0], "k": [1, 3]}, prove=HANGS
    )
    assert len(searches) == 2
    svm = comparison.summary.set_index("method").loc["SVMDual"]
    assert (svm["claim"], svm["proved"]) == ("GLOBAL", 2)
    assert svm["proved_within"] <= 1e-6
    assert "proved within" in comparison.to_markdown()
    assert comparison.settings["prove"] == f"{HANGS:g} s for each fit"


def test_fits_without_a_bound_are_counted(tmp_path: Path) -> None:
    plain = iopt.compare(figure_3(), ["SVMDual(C=2)"], folds=2)
    assert plain.summary["proved_within"].tolist() == [np.inf]
    assert "0 of 2 fits are proved to be within 1e-4 of the global optimum" in str(plain)
    assert "Proved within" in plain.to_html(tmp_path / "report.html").read_text()
