"""A study over several data sets: ranks, tests of differences, and tables for people."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.stats import friedmanchisquare, rankdata, wilcoxon

import indefinite_opt as iopt
from indefinite_opt.figures.ranks import critical_difference_figure, joined
from indefinite_opt.studies import Study
from indefinite_opt.studies.report import over_data
from indefinite_opt.studies.report.latex import latex_table

MEANS = np.array([
    [0.90, 0.80, 0.85], [0.70, 0.75, 0.60], [0.95, 0.90, 0.80], [0.66, 0.60, 0.60],
    [0.88, 0.80, 0.79], [0.91, 0.83, 0.90], [0.77, 0.71, 0.70], [0.99, 0.98, 0.90],
])  # fmt: skip


def hand_made(means: np.ndarray, metrics: tuple[str, ...] = ("accuracy",)) -> Any:
    """The outcome of a study with these accuracies, one division of each data set."""
    names = [f"data_{k}" for k in range(len(means))]
    methods = ["A", "B & co", "C", "D", "E", "F", "G"][: means.shape[1]]
    rows = [
        {"data": d, "method": m, "accuracy": means[i, j], "accuracy_sd": 0.01, "error": "",
         "proved_within": 1e-6 if j else 1e-3}
        for i, d in enumerate(names) for j, m in enumerate(methods)
    ]  # fmt: skip
    plan = SimpleNamespace(metrics=metrics, protocol="one division")
    study = SimpleNamespace(
        select="accuracy", sources=dict.fromkeys(names), grids=dict.fromkeys(methods), plan=plan
    )
    return SimpleNamespace(study=study, table=rows, chosen_rows=rows)


def test_ranks_are_those_of_scipy() -> None:
    scores = over_data.Scores.of(hand_made(MEANS))
    expected = np.mean([rankdata(-row) for row in MEANS], axis=0)
    assert scores.ranks == pytest.approx(expected)
    failed = MEANS.copy()
    failed[0, 0] = np.nan
    ranks = over_data.Scores.of(hand_made(failed)).ranks
    assert ranks[0] == pytest.approx(expected[0] + 2.0 / len(MEANS))


def test_differences_are_tested_by_signed_ranks_with_holms_adjustment() -> None:
    found = over_data.signed_rank_tests(MEANS, best=0)
    single = [wilcoxon(MEANS[:, 0] - MEANS[:, j]).pvalue for j in (1, 2)]
    least, most = sorted(single)
    assert sorted(found.values()) == pytest.approx([2.0 * least, max(2.0 * least, most)])
    assert over_data.friedman(MEANS) == pytest.approx(friedmanchisquare(*MEANS.T).pvalue)
    sentence = over_data.conclusions(hand_made(MEANS))[0]
    assert "best mean rank is 1.12, of A" in sentence
    assert "significantly better than B & co and C" in sentence


def test_few_data_sets_are_not_tested() -> None:
    (told,) = over_data.conclusions(hand_made(MEANS[:3]))
    assert "Differences over 3 data sets are not tested" in told
    assert over_data.conclusions(hand_made(MEANS[:1])) == []


def test_critical_differences_are_those_of_the_papers_table() -> None:
    """Demšar (2006), Table 5: q at 5 % is 1.960, 2.343, 2.569, 2.728 for 2 to 5 methods."""
    for k, q in ((2, 1.960), (3, 2.343), (4, 2.569), (5, 2.728)):
        expected = q * np.sqrt(k * (k + 1) / (6.0 * 14))
        assert over_data.critical_difference(k, 14) == pytest.approx(expected, abs=2e-3)


def test_the_printed_table_fits_into_80_columns() -> None:
    text = over_data.text(hand_made(MEANS))
    assert max(map(len, text.splitlines())) <= 80
    assert "data_0     90.0 ± 1.0*  80.0 ± 1.0   85.0 ± 1.0" in text
    assert "mean rank        1.12" in text
    wide = over_data.text(hand_made(np.tile(MEANS[:4], 2)[:, :6]))
    assert max(map(len, wide.splitlines())) <= 80
    assert wide.splitlines()[1].startswith("method")


def test_proofs_are_counted() -> None:
    told = over_data.conclusions(hand_made(MEANS, ("accuracy", "proved_within")))[-1]
    assert told.startswith("16 of 24 fits are proved to be within 1e-4 of the global optimum")


def test_latex_has_rules_and_bold_best() -> None:
    table = over_data.to_latex(hand_made(MEANS), "", "tab:study")
    for part in (r"\toprule", r"\midrule", r"\bottomrule", r"\label{tab:study}", r"B \& co"):
        assert part in table
    assert r"data\_0 & \textbf{90.0 $\pm$ 1.0} & 80.0 $\pm$ 1.0 & 85.0 $\pm$ 1.0 \\" in table
    assert table.count(r"\textbf") == len(MEANS) + 1


def test_a_comparison_is_a_latex_table() -> None:
    X = np.random.default_rng(0).normal(size=(40, 2))
    problem = iopt.KernelProblem.from_data(X, (X[:, 0] > 0).astype(int), "gaussian(gamma=1)")
    comparison = iopt.compare(problem, ["SVMDual", "KNN(k=3)"], folds=2)
    table = comparison.to_latex("Gaussian, 40 points", "tab:one")
    assert r"\caption{Gaussian, 40 points}" in table
    assert r"method & accuracy & claim & proved within & SVs \\" in table
    assert table.count(r"\textbf") == 1
    assert "GLOBAL" in table


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_tables_compile(tmp_path: Path) -> None:
    tables = [
        over_data.to_latex(hand_made(MEANS), "A study", "tab:a"),
        latex_table(["x", "y"], [[["a_b% #", ("6e-5", True)]]], "lr", "~^{}", ""),
    ]
    body = "\n".join(tables)
    document = rf"\documentclass{{article}}\usepackage{{booktabs}}\begin{{document}}{body}"
    (tmp_path / "t.tex").write_text(document + r"\end{document}", encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "t.tex"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)


def test_bars_join_methods_that_are_not_apart() -> None:
    assert joined([1.0, 2.0, 2.4, 3.9], 1.5) == [(1.0, 2.4)]
    assert joined([1.0, 2.0, 2.9, 3.4], 1.5) == [(1.0, 2.0), (2.0, 3.4)]
    assert joined([1.0, 3.0], 1.5) == []
    figure = critical_difference_figure({"A": 1.2, "B": 2.9, "C": 1.9}, 0.8)
    words = [text.get_text().strip() for text in figure.axes[0].texts]
    assert words[-3:] == ["A (1.20)", "C (1.90)", "B (2.90)"]
    assert "critical difference 0.80" in words


def test_a_study_prints_and_writes_its_table(tmp_path: Path) -> None:
    data = {f"board {k}": f"checkerboard(n=40, cells={k})" for k in (2, 3)}
    outcome = Study(data, {"3-NN": "KNN(k=3)", "5-NN": "KNN(k=5)"}, 2).run()
    assert str(outcome).startswith("accuracy in %, mean ± standard deviation")
    assert repr(outcome) == "StudyOutcome(2 data sets, 2 methods, 8 rows)"
    assert sum(outcome.ranks.values()) == pytest.approx(3.0)
    page = outcome.to_html(tmp_path / "study.html").read_text()
    assert "mean rank" in page
    assert "<img" in page
    assert outcome.to_markdown().startswith("| data | 3-NN | 5-NN |")
    assert len(outcome.plot().axes) == 1
