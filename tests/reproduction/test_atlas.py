"""The atlas: what is run, the numbers that answer its questions, and the page made of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import rankdata

import indefinite_opt as iopt
from helpers.exact import global_minimum
from indefinite_opt.errors import DataError
from indefinite_opt.studies import Data
from reproduction.atlas import page, protocol, questions, table
from reproduction.atlas.__main__ import PAGE, main
from reproduction.atlas.protocol import DESCENT, FULL, LIBSVM, METHODS, PROVED, QUICK, USUAL

RNG = np.random.default_rng(0)


@pytest.fixture
def few_resamples(monkeypatch: pytest.MonkeyPatch) -> None:
    """Enough for a table of three pairs, whose intervals end at the least and largest value."""
    monkeypatch.setattr(questions, "RESAMPLES", 200)


def test_every_formulation_is_run_or_left_out_by_name() -> None:
    run = {type(grid.method).__name__ for grid in METHODS.values()}
    known = {
        name
        for name in iopt.available_formulations()
        if getattr(getattr(iopt, name, None), "task", None) == "classification"
    }
    assert len(known) > 12
    said = protocol.__doc__ or ""
    assert {name for name in known - run if f"`{name}`" not in said} == set()


def test_flip_is_left_out_because_esvm_is_the_same() -> None:
    K = RNG.normal(size=(30, 30))
    problem = iopt.KernelProblem(K + K.T, RNG.permutation(np.repeat([-1, 1], 15)))
    new = RNG.normal(size=(5, 30))
    flip, esvm = (
        iopt.solve(problem, formulation).classifier.decision_function(new)
        for formulation in ("SpectrumSVM(transform=flip)", "ESVM")
    )
    assert flip == pytest.approx(esvm, abs=1e-9)


def test_the_ends_are_those_of_the_exact_optimum() -> None:
    """Nine training points of each fold, whose stationary points are enumerated in fractions."""
    D = np.abs(RNG.integers(1, 9, size=(18, 18))).astype(float)
    D = np.triu(D, 1) + np.triu(D, 1).T
    y = np.repeat(["a", "b", "c"], [8, 2, 8])
    data = Data(iopt.datasets.Dataset("drawn", y, D=D / 4.0), ["distance(form=linear)"])
    rows = protocol.ends(data, C=1.0, fold=0, folds=2, starts=3, seconds=5.0)
    assert [row["method"] for row in rows] == [PROVED, USUAL, DESCENT, LIBSVM, "0", "1", "2"]
    places = protocol.largest_classes(data.y)
    assert set(y[places]) == {"a", "c"}
    train = places[iopt.studies.RepeatedKFold(2).divisions(data.y[places])[0].train]
    signs = np.where(y[train] == "c", 1.0, -1.0)
    Q = -0.5 * (D[np.ix_(train, train)] / 4.0) ** 2 * np.outer(signs, signs)
    optimum = -global_minimum(Q, -np.ones(8), 1.0, signs[None], np.zeros(1))
    assert rows[0]["objective"] == pytest.approx(optimum, rel=1e-6)
    assert rows[0]["proved_within"] < 1e-6
    assert max(row["objective"] for row in rows) <= optimum * (1.0 + 1e-6)
    assert {row["n"] for row in rows} == {8}


def ended(pair: str, C: float, objectives: dict[str, float], accuracies: list[float]) -> list[Any]:
    """Rows of the ends of a program of 100 points, half of whose spectrum is negative."""
    shared = {"part": "end", "pair": pair, "C": C, "fold": 0, "n": 100, "p": 50, "q": 50,
              "negative": 0.5, "seconds": 2.0, "proved_within": 1e-5}  # fmt: skip
    named = zip(objectives.items(), accuracies, strict=True)
    return [
        {**shared, "method": name, "objective": value, "accuracy": accuracy}
        for (name, value), accuracy in named
    ]


ENDS = [
    *ended("one", 1.0, {PROVED: 10.0, USUAL: 10.0, DESCENT: 9.0, LIBSVM: 8.0, "0": 9.5},
           [0.5, 0.5, 0.6, 0.7, 0.55]),
    *ended("two", 1.0, {PROVED: 4.0, USUAL: 4.0, DESCENT: 4.0, LIBSVM: 4.0, "0": 4.0},
           [0.5, 0.5, 0.5, 0.5, 0.5]),
]  # fmt: skip


@pytest.mark.usefixtures("few_resamples")
def test_misses_are_shares_of_the_best_objective() -> None:
    found = questions.misses(pd.DataFrame(ENDS)).set_index("pair")
    assert found.loc["one", f"miss {LIBSVM}"] == pytest.approx(0.2)
    assert found.loc["one", f"miss {DESCENT}"] == pytest.approx(0.1)
    assert found.loc["one", f"gain {LIBSVM}"] == pytest.approx(-0.2)
    assert found.loc["two", f"miss {LIBSVM}"] == 0.0
    share = questions.missed_share(found.reset_index(), LIBSVM)
    assert share == questions.Estimate(0.5, 0.0, 1.0, 2)


def test_accuracy_that_falls_with_the_objective_has_correlation_minus_1() -> None:
    """LIBSVM's end is no optimum; the second program has one optimum only."""
    found = questions.correlations(pd.DataFrame(ENDS))
    assert found[["pair", "optima", "rho"]].values.tolist() == [["one", 3, pytest.approx(-1.0)]]


def test_intervals_of_the_bootstrap_are_those_of_the_binomial_distribution() -> None:
    """The sum of 40 draws of 0 or 1 with equal chances is from 14 to 26 with 96 %."""
    rows = pd.DataFrame({"pair": range(40), "x": [0.0, 1.0] * 20})
    found = questions.bootstrapped(rows, lambda each: float(each["x"].mean()))
    assert found.value == 0.5
    assert [found.low, found.high] == pytest.approx([14 / 40, 26 / 40], abs=1.01 / 40)


@pytest.mark.slow
@pytest.mark.usefixtures("few_resamples")
def test_growth_is_that_of_the_law_by_which_seconds_were_made() -> None:
    n, share, C = RNG.integers(50, 800, 60), RNG.random(60) / 3.0, RNG.choice([0.1, 1.0], 60)
    found = pd.DataFrame({
        "pair": np.arange(60) % 12, "n": n, "negative": share, "C": C, "q": 5,
        "proved_within": 1e-6, "seconds": 1e-4 * n**1.5 * np.exp(4.0 * share) * (1.0 + C),
    })  # fmt: skip
    grown = questions.growth(found)
    assert grown["exponent of n"][:3] == pytest.approx((1.5, 1.5, 1.5))
    assert grown["factor for 10 points"][:3] == pytest.approx((np.exp(0.4),) * 3)


PAIRS = {"gunpoint-dtw": (200, 2, 0.05), "proteins": (213, 4, 0.2), "wine-tl1": (178, 3, 0.02)}
ACCURACY = {"SVMDual": [0.6, 0.9, 0.7], "LPSVM": [0.9, 0.8, 0.8], "1-NN": [0.8, 0.7, 0.6]}


def written(folder: Path) -> Path:
    """A table of three pairs and three methods, whose numbers are known."""
    rows: list[Any] = [
        {"part": "pair", "pair": pair, "n": n, "classes": k, "negative": share, "p": 9, "q": 9}
        for pair, (n, k, share) in PAIRS.items()
    ]
    rows += [
        {"part": "study", "pair": pair, "method": method, "run": 0, "fold": fold, "chosen": method,
         "accuracy": values[k] + 0.01 * (2 * fold - 1), "claim": "LOCAL", "seconds": 1.0,
         "cell_seconds": 60.0, "error": "",
         "proved_within": 1e-3 if (pair, fold) == ("proteins", 0) else 1e-5}
        for k, pair in enumerate(PAIRS) for method, values in ACCURACY.items() for fold in (0, 1)
    ]  # fmt: skip
    rows += [
        {**row, "pair": {"one": "gunpoint-dtw", "two": "proteins"}[row["pair"]]} for row in ENDS
    ]
    return table.write(rows, folder / "cells.csv.gz")


def test_a_table_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = written(tmp_path)
    found = table.read(path)
    assert found["part"].value_counts().to_dict() == {"study": 18, "end": 10, "pair": 3}
    study = found[found["part"] == "study"].set_index(["pair", "method", "fold"])
    assert study.loc[("wine-tl1", "LPSVM", 1), "accuracy"] == 0.81
    assert study["error"].tolist() == [""] * 18
    first = path.read_bytes()
    assert written(tmp_path).read_bytes() == first
    with pytest.raises(DataError, match=r"no file .*python -m reproduction.atlas"):
        table.read(tmp_path / "none.csv.gz")
    path.write_bytes(b"no table")
    with pytest.raises(DataError, match="a table of the atlas"):
        table.read(path)


@pytest.mark.usefixtures("few_resamples")
def test_ranks_and_gains_are_those_of_the_means(tmp_path: Path) -> None:
    found = table.read(written(tmp_path))
    ranks = questions.group_ranks(found, FULL)
    means = np.array(list(ACCURACY.values()))
    two = dict(zip(ACCURACY, rankdata(-means[:, 0]), strict=True))
    assert ranks["two classes (1)"].to_dict() == two
    more = rankdata(-means[:, 1:], axis=0).mean(axis=1)
    assert ranks["more classes (2)"].to_dict() == dict(zip(ACCURACY, more, strict=True))
    assert list(ranks)[:3] == ["0 to 5 % negative (1)", "5 to 15 % negative (1)",
                               "15 to 100 % negative (1)"]  # fmt: skip
    gain = questions.gains(found, "LPSVM", "SVMDual")
    assert gain.value == pytest.approx(0.1)
    assert (gain.low, gain.high) == pytest.approx((-0.1, 0.3))


@pytest.mark.slow
@pytest.mark.usefixtures("few_resamples")
def test_sentences_of_the_page_have_the_numbers_of_the_table(tmp_path: Path) -> None:
    found, pages = table.read(written(tmp_path)), tmp_path / "docs" / "atlas.md"
    made = page.write(found, FULL, pages)
    assert [path.name for path in made] == [
        "atlas-misses.svg", "atlas-ranks.svg", "atlas-proofs.svg", "atlas.md",
        "atlas-summary.md",
    ]  # fmt: skip
    text = pages.read_text(encoding="utf-8")
    for part in (
        "2 of 2 programs are not convex, and 2 of these are proved",
        "| LIBSVM | 50.0 (0.0 to 100.0) | 50.0 | 50.0 | 20 | 20 | -20.0 (-20.0 to -20.0) |",
        "| The usual search | 0.0 (0.0 to 0.0) | 0.0 | 0.0 | – | – | – |",
        "accuracy over the optima of one program is -1.00",
        "| `LPSVM` | 1.33 | +10.0 (-10.0 to +30.0) | +10.0 | ",
        "| wine-tl1 | **80.0** | 70.0 | 60.0 |",
        "5 of 6 tested fits of nonconvex formulations (83.3 %) are proved",
        "| proteins | SVMDual | 1 | 0.1 |",
        "The 3 pairs are of 3 labelled sets of objects",
    ):
        assert part in text, part


@pytest.mark.slow
def test_the_committed_page_is_that_of_the_committed_table(tmp_path: Path) -> None:
    committed = Path(__file__).parents[2] / PAGE
    page.write(table.read(), FULL, tmp_path / "atlas.md", table.NOTE.read_text("utf-8").strip())
    for name in ("atlas.md", "atlas-summary.md"):
        made = (tmp_path / name).read_text(encoding="utf-8")
        assert made == committed.with_name(name).read_text(encoding="utf-8")


def test_a_page_without_a_table_claims_nothing(tmp_path: Path) -> None:
    (made,) = page.write(None, FULL, tmp_path / "atlas.md")
    text = made.read_text(encoding="utf-8")
    assert page.NOT_RUN in text
    assert "mutag-ged" in text
    assert "misses the best known" not in text
    assert "svg" not in text


@pytest.mark.slow
def test_the_command_lists_runs_and_resumes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("INDEFINITE_OPT_DATA", raising=False)
    assert main(["--list"]) == 0
    assert "gunpoint-dtw" in capsys.readouterr().out
    quick = ["--quick", "--jobs", "1", "--store", str(tmp_path), "--only"]
    assert main([*quick, "iris-*"]) == 0
    cells = (tmp_path / "cells.jsonl").read_bytes()
    found = table.read(tmp_path / "cells.csv.gz")
    fits = len(QUICK.methods) * QUICK.folds
    ends = 3 * (4 + QUICK.starts)
    assert found["part"].value_counts().to_dict() == {"study": fits, "end": ends, "pair": 1}
    assert set(found["error"]) == {""}
    assert "1 of" not in capsys.readouterr().err
    assert main([*quick, "iris-*"]) == 0
    assert (tmp_path / "cells.jsonl").read_bytes() == cells
    capsys.readouterr()
    assert main([*quick, "aural-sonar"]) == 2
    assert "aural-sonar is skipped: data: expected proximity/auralsonar.npz" in (
        capsys.readouterr().err
    )
    assert main([*quick, "nothing"]) == 2


@pytest.mark.slow
def test_the_guide_recommends_what_the_committed_table_shows() -> None:
    """The sentences of docs/guide/choosing.md, which are written by hand."""
    found = table.read()
    ranks = pd.Series(questions.study(found, FULL).ranks).sort_values()
    assert (ranks.index[0], ranks.index[-1]) == ("clip", "1-NN")
    groups = {
        name.partition(" (")[0]: ranks for name, ranks in questions.group_ranks(found, FULL).items()
    }
    high, low = (groups[f"{share} % negative"].sort_values() for share in ("15 to 100", "0 to 5"))
    assert set(high.index[:2]) == {"square", "SeparabilitySVM"}
    assert low[["clip", "SVMDual", "LIBSVM"]].max() <= low.min() + 1.0
    assert groups["two classes"].idxmin() == "LussDual"
    programs = questions.misses(found)
    programs = programs[programs["q"] > 0]
    missed = programs[f"miss {LIBSVM}"] > questions.CLOSE
    assert not missed[programs["negative"] < 0.05].any()
    assert missed[programs["negative"] > 0.2].mean() > 0.5
    assert programs.loc[missed, f"gain {LIBSVM}"].mean() <= 0.0
