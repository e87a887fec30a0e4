"""A study over several data sets: ranks, tests of differences, and tables for people."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import friedmanchisquare, rankdata, wilcoxon

import indefinite_opt as iopt
from indefinite_opt.errors import ParameterError
from indefinite_opt.figures.ranks import critical_difference_figure, joined
from indefinite_opt.studies import Grid, Nested, RepeatedSplit, Study, StudyOutcome
from indefinite_opt.studies.report import over_data
from indefinite_opt.workflow import latex_table

Array = NDArray[Any]

MEANS = np.array([
    [0.90, 0.80, 0.85], [0.70, 0.75, 0.60], [0.95, 0.90, 0.80], [0.66, 0.60, 0.60],
    [0.88, 0.80, 0.79], [0.91, 0.83, 0.90], [0.77, 0.71, 0.70], [0.99, 0.98, 0.90],
])  # fmt: skip


def hand_made(
    means: Array, metrics: tuple[str, ...] = ("accuracy",), runs: int = 2, select: str = "accuracy"
) -> StudyOutcome:
    """The outcome of a study with these accuracies, each run 0.01 from them, NaN for a failure."""
    names = [f"data_{k}" for k in range(len(means))]
    methods = ["A", "B & co", "C", "D", "E", "F", "G"][: means.shape[1]]
    study = Study(
        dict.fromkeys(names, "checkerboard(n=40)"), dict.fromkeys(methods, "KNN"),
        RepeatedSplit(0.5, runs), metrics, select,
    )  # fmt: skip
    rows = [
        {"data": d, "method": m, "run": run, "fold": 0, "entry": 0, "chosen": "", "solver": "-",
         "proved_within": (1e-6 if j else 1e-3), "claim": "GLOBAL" if j else "LOCAL",
         select: means[i, j] + 0.01 * (2 * run - 1) * (runs > 1),
         "error": "SolverFailed: no" if np.isnan(means[i, j]) and run == 0 else ""}
        for i, d in enumerate(names) for j, m in enumerate(methods) for run in range(runs)
    ]  # fmt: skip
    for row in rows:
        if not row["error"] and np.isnan(row[select]):
            row[select] = 0.99  # of the run that did not fail
    return StudyOutcome(study, rows)


def test_ranks_are_those_of_scipy() -> None:
    scores = over_data.Scores.of(hand_made(MEANS))
    expected = np.mean([rankdata(-row) for row in MEANS], axis=0)
    assert scores.ranks == pytest.approx(expected)
    failed = MEANS.copy()
    failed[0, 0] = np.nan
    ranks = over_data.Scores.of(hand_made(failed)).ranks
    # Rank 3 in place of 1, although the mean of the other run is the best there.
    assert ranks[0] == pytest.approx(expected[0] + 2.0 / len(MEANS))


def test_equal_scores_share_their_rank_whatever_their_rounding() -> None:
    scores = over_data.Scores.of(hand_made(np.array([[0.1 + 0.2, 0.3], [0.5, 0.4]]), runs=1))
    assert scores.ranks == pytest.approx([1.25, 1.75])
    assert [scores.is_best(0, j) for j in (0, 1)] == [True, True]
    # Two errors that are small beside 1 are not equal, and the smaller one is the better one.
    scores = over_data.Scores.of(hand_made(np.array([[1e-5, 4e-5]]), ("rmse",), 1, "rmse"))
    assert scores.ranks.tolist() == [1.0, 2.0]
    assert [scores.is_best(0, j) for j in (0, 1)] == [True, False]
    assert scores.text(0, 0) == "1e-05"  # a single number has no deviation


def test_what_failed_is_named_and_not_tested() -> None:
    failed = MEANS.copy()
    failed[0, 2] = np.nan
    outcome = hand_made(failed)
    first, second, *_ = over_data.conclusions(outcome)
    assert first.startswith("1 of 48 fits failed, of C on data_0, where the method has the last")
    assert "SolverFailed: no." in first
    assert "Tests leave out what failed: C." in second
    assert "significantly better than B & co (Wilcoxon" in second
    assert not over_data.Scores.of(outcome).is_best(0, 2)
    everything = hand_made(np.full((6, 2), np.nan))
    assert "Tests leave out what failed: A and B & co." in over_data.conclusions(everything)[1]
    assert "Wilcoxon" not in str(everything)


def test_differences_are_tested_by_signed_ranks_with_holms_adjustment() -> None:
    found = over_data.signed_rank_tests(MEANS, best=0)
    # Hundredths are whole numbers, of which equal differences are equal.
    hundredths = np.round(100.0 * MEANS)
    single = [wilcoxon(hundredths[:, 0] - hundredths[:, j]).pvalue for j in (1, 2)]
    least, most = sorted(single)
    assert sorted(found.values()) == pytest.approx([2.0 * least, max(2.0 * least, most)])
    assert over_data.friedman(MEANS) == pytest.approx(friedmanchisquare(*MEANS.T).pvalue)
    sentence = over_data.conclusions(hand_made(MEANS))[0]
    assert "best mean rank is 1.12, of A" in sentence
    assert "significantly better than B & co and C" in sentence


@pytest.mark.parametrize(
    ("data_sets", "methods", "least"),
    [(3, 2, "0.25"), (5, 2, "0.062"), (6, 3, "0.062 after Holm's adjustment for 2 comparisons")],
)
def test_too_few_data_sets_are_not_tested(data_sets: int, methods: int, least: str) -> None:
    """Even if one method is the best on all, the exact test has p = 2 / 2^N."""
    gains = np.arange(data_sets)[:, None] * 0.01 + np.array([0.3, 0.2, 0.1])[:methods]
    smallest = wilcoxon(np.arange(1.0, data_sets + 1)).pvalue
    assert smallest == pytest.approx(2.0 / 2**data_sets)
    assert (methods - 1) * smallest > 0.05
    told = over_data.conclusions(hand_made(gains))[0]
    assert f"{data_sets} data sets are too few to test" in told
    assert f"no p-value below {least}." in told


def test_six_data_sets_suffice_for_two_methods() -> None:
    gains = np.arange(6)[:, None] * 0.01 + np.array([0.3, 0.2])
    gains[:, 0] += 0.001 * np.arange(6)
    told, chance = over_data.conclusions(hand_made(gains))
    assert "It is significantly better than B & co (Wilcoxon" in told
    assert "Holm" not in told  # there is a single comparison
    # At most 35 % are right, where each class has half of 40 points.
    assert chance.startswith("All methods on data_0, data_1, data_2, data_3, data_4 and data_5 are")
    assert "are not significantly more accurate than the prediction of the largest" in chance
    gains[4, 0] = 0.9
    *_, most, other = over_data.conclusions(hand_made(gains))
    assert most.startswith("All methods on data_0, data_1, data_2, data_3 and data_5 are not")
    assert other.startswith("B & co on data_4 is not significantly more accurate than the pred")
    assert over_data.conclusions(hand_made(MEANS[:1])) == []


def test_critical_differences_are_those_of_the_papers_table() -> None:
    """Demšar (2006), Table 5: q at 5 % is 1.960, 2.343, 2.569, 2.728 for 2 to 5 methods."""
    for k, q in ((2, 1.960), (3, 2.343), (4, 2.569), (5, 2.728)):
        expected = q * np.sqrt(k * (k + 1) / (6.0 * 14))
        assert over_data.critical_difference(k, 14) == pytest.approx(expected, abs=2e-3)
    # The example of section 3.2.2: four methods on fourteen data sets.
    assert f"{over_data.critical_difference(4, 14):.2f}" == "1.25"


def test_the_printed_table_fits_into_80_columns() -> None:
    text = str(hand_made(MEANS))
    assert max(map(len, text.splitlines())) <= 80
    assert text.startswith("accuracy (%): mean ± standard deviation over the runs; 2 random strat")
    assert "data_0     90.0 ± 1.0*  80.0 ± 1.0   85.0 ± 1.0" in text
    assert "mean rank        1.12*        2.19         2.69" in text


@pytest.mark.parametrize(("data_sets", "methods"), [(1, 1), (2, 7), (20, 7)])
def test_tables_of_any_shape_fit_and_lose_no_cell(data_sets: int, methods: int) -> None:
    """Columns that do not fit stand below; methods are rows if there are more than data sets."""
    means = np.linspace(0.5, 0.9, data_sets * methods).reshape(data_sets, methods)
    outcome = hand_made(means)
    text = str(outcome)
    assert max(map(len, text.splitlines())) <= 80
    assert "…" not in text
    assert (text.count("±") - 1, text.count("\nmethod ") > 0) == (
        means.size,
        methods == 7 and data_sets < 7,
    )
    for mean in means.ravel():
        assert f"{100 * mean:.1f} ± 1.0" in text
    assert outcome.to_latex().count(r"\pm") == means.size + 1
    assert outcome.to_markdown().count("±") == means.size + 1


def test_long_names_of_methods_stand_in_rows() -> None:
    names = [f"a support vector machine of kind {k}" for k in range(2)]
    data = [f"checkerboard(n=40, cells={k}, seed={seed})" for k in (2, 3) for seed in (1, 2)]
    outcome = Study(data, dict.fromkeys(names, "KNN"), 2).run()
    assert max(map(len, str(outcome).splitlines())) <= 80
    table = str(outcome).partition("\nThe best mean rank")[0]
    assert table.count(f"\n{names[0]} ") == 5  # a column each, below one another


def test_proofs_are_counted() -> None:
    told = over_data.conclusions(hand_made(MEANS, ("accuracy", "proved_within")))[-1]
    assert told.startswith("32 of 48 fits are proved to be within 1e-4 of the global optimum")
    told = over_data.conclusions(hand_made(MEANS, ("accuracy", "claim")))[-1]
    assert told == "32 of 48 fits are proved global optima."
    # Baselines have no optimum.
    board = {"board": "checkerboard(n=40, cells=2)"}
    alone = Study(board, {"3-NN": "KNN(k=3)"}, 2, ("accuracy", "claim", "proved_within")).run()
    assert alone.conclusions == []


def test_parameters_that_are_chosen_by_the_shown_scores_are_marked_as_such() -> None:
    data, grid = {"board": "checkerboard(n=40, cells=2)"}, Grid("KNN", k=[1, 3])
    (told,) = Study(data, {"NN": grid}, 2).run().conclusions
    assert told.startswith("Parameters were chosen by the scores that are shown")
    assert Study(data, {"NN": grid}, Nested(2, 2)).run().conclusions == []


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
    assert r"method & accuracy (\%) & claim & proved within & SVs \\" in table
    assert table.count(r"\textbf") == 1
    for rule in (r"\toprule", r"\midrule", r"\bottomrule"):
        assert table.count(rule) == 1
    rows = comparison.summary.to_dict("records")
    best, other = (f"{100 * r['accuracy']:.1f} $\\pm$ {100 * r['accuracy_sd']:.1f}" for r in rows)
    assert rf"\textbf{{{best}}}" in table
    assert rf"& {other} &" in table
    assert "GLOBAL" in table
    assert not re.search(r"\d\.\d{4}", table)
    chosen = iopt.compare(problem, ["KNN"], folds=2, grid={"k": [1, 3]})
    assert "chosen" not in chosen.to_latex("Neighbours")
    assert re.search(r"k=\d \(\d\).* \\\\$", chosen.to_latex(chosen=True), re.MULTILINE)


def test_texts_are_escaped() -> None:
    for text, expected in (
        ("a_b% #1 & {c} ~ ^ $5", r"a\_b\% \#1 \& \{c\} \textasciitilde{} \textasciicircum{} \$5"),
        (r"C:\x", r"C:\textbackslash{}x"), ("-0.050 ± 0.1", r"$-$0.050 $\pm$ 0.1"),
        ("SVMDual · smo, R², 5-NN", r"SVMDual $\cdot$ smo, R$^2$, 5-NN"), ("a | b", "a $|$ b"),
    ):  # fmt: skip
        table = latex_table([{text: text}], [], text, "tab:x_y")
        assert table.count(expected) == 3
        assert r"\label{tab:x_y}" in table


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_tables_compile(tmp_path: Path) -> None:
    tables = [
        over_data.to_latex(hand_made(MEANS), "A study", "tab:a"),
        latex_table([{"x": "a_b% #", "y": "6e-5"}], ["y"], "~^{}", "", np.array([[False, True]])),
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


def test_a_picture_needs_two_methods_and_two_data_sets() -> None:
    for data, methods in ((1, 2), (2, 1)):
        expected = f"two data sets or more.*got {methods} and {data}"
        with pytest.raises(ParameterError, match=expected):
            hand_made(MEANS[:data, :methods]).plot()
    words = [text.get_text() for text in hand_made(MEANS).plot().axes[0].texts]
    expected = over_data.critical_difference(3, 8)
    test = "Nemenyi's test over 8 data sets, 5 % level"
    assert f"critical difference {expected:.2f} ({test})" in words


def test_a_study_prints_and_writes_its_table(tmp_path: Path) -> None:
    data = {f"board {k}": f"checkerboard(n=40, cells={k})" for k in (2, 3)}
    outcome = Study(data, {"<3>-NN": "KNN(k=3)", "5-NN": "KNN(k=5)"}, 2).run()
    assert str(outcome).startswith("accuracy (%): mean ± standard deviation over the divisions; 2")
    assert repr(outcome) == "StudyOutcome(2 data sets, 2 methods, 8 rows)"
    assert sum(outcome.ranks.values()) == pytest.approx(3.0)
    page = outcome.to_html(tmp_path / "study.html").read_text()
    for part in ("mean rank", "<img", "2 data sets, 2 methods", "board 2", "2 stratified folds"):
        assert part in page
    assert "&lt;3&gt;-NN" in page
    assert "<3>" not in page
    assert not re.search("https?:", re.sub(r'src="[^"]*"', "", page))
    assert page.count("<tr") == 1 + 3 + 1 + 2 + 1 + 8  # scores, data sets, divisions
    assert outcome.to_markdown().startswith("| data | <3>-NN | 5-NN |")
    assert len(outcome.plot().axes) == 1
    rows = outcome._repr_html_()
    assert rows.count("<b>") >= 3
    assert "*" not in rows
