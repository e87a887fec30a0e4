"""Published tables, computations, comparison with the paper, and pages, on tiny data."""

from __future__ import annotations

import importlib
import math
import re
import tomllib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from indefinite_opt.errors import UnknownName
from indefinite_opt.studies import Computation, ComputationOutcome, Data, Grid, RepeatedKFold, Study
from reproduction import declaration
from reproduction.comparison import Reproduction, reproduce
from reproduction.declaration import (
    LEADS,
    PAPERS,
    Check,
    Entry,
    Fact,
    Note,
    PaperStudy,
    find,
    notes,
    published,
    studies,
)
from reproduction.pages import write_index, write_study

CALLS: list[int] = []


def squares(count: int, noise: tuple[float, ...] = ()) -> list[dict[str, object]]:
    """One row per number, as a computation returns them."""
    CALLS.append(count)
    return [{"square": np.float64(k * k), "curve": np.arange(k)} for k in range(1, count + 1)]


def refuse(count: int) -> dict[str, object]:
    """A computation that fails for odd numbers."""
    if count % 2:
        raise ValueError(f"{count} is odd")
    return {"half": count / 2}


def needs_data(data: Data) -> dict[str, object]:
    """The number of points."""
    return {"n": data.y.size}


def by_column(**entries: Entry) -> Callable[[str, str], Entry]:
    return lambda row, column: entries[column]


def declared(**changes: object) -> PaperStudy:
    """A study of two numbers of a computation, (1 + 4 + 9)/3 and a half."""

    def experiments(quick: bool) -> dict[str, Study | Computation]:
        return {
            "squares": Computation(squares, {"three": {"count": 2 if quick else 3}}),
            "halves": Computation(refuse, {"three": {"count": 3}}),
        }

    settings: dict[str, object] = {
        "paper": "Somebody (2000)", "item": "Table 1", "place": "page 3", "title": "Numbers",
        "experiments": experiments, "minutes": 0.1, "quick_minutes": 0.1, "data": (),
        "numbers": published("""
                  mean  half
           three  4.7   1.5
           four   7.5   2
        """),
        "entry": by_column(
            mean=Entry(metric="square", unit=0.5),
            half=Entry(metric="half", unit=0.5, experiment="halves"),
        ),
        "notes": {("four", "*"): Note("missing", "Nobody kept it.")},
    }  # fmt: skip
    return PaperStudy(**{**settings, **changes})  # type: ignore[arg-type]


def run(study: PaperStudy, **options: object) -> Reproduction:
    return reproduce("somebody-table-1", study, **options)  # type: ignore[arg-type]


def test_numbers_are_read_as_they_are_printed() -> None:
    table = published("""
                 (p, q)  accuracy
      protein M  4       98.21±.7
      cat        -       -1.2e-2 (1.5e-3)
    """)
    assert table.columns == ("(p, q)", "accuracy")
    assert table.facts["protein M", "accuracy"] == Fact(98.21, 0.7, 2)
    assert table.facts["cat", "accuracy"] == Fact(-0.012, 0.0015, 3)
    assert set(table.facts) == {
        ("protein M", "(p, q)"), ("protein M", "accuracy"), ("cat", "accuracy")
    }  # fmt: skip


def test_distances_are_in_deviations_of_the_paper() -> None:
    assert Entry().spread(Fact(0.824, None, 3)) == pytest.approx(0.015)  # 1.5 points
    assert Entry(factor=100).spread(Fact(82.4, None, 1)) == pytest.approx(1.5)
    assert Entry(factor=100).spread(Fact(82.4, 0.7, 1)) == 0.7
    assert Entry(factor=100).spread(Fact(99.9, 0.0, 1)) == 0.05  # the rounding of the print
    assert Entry(relative=0.1).spread(Fact(-300.0, None, 2)) == pytest.approx(30.0)


def test_a_computation_is_compared_with_the_paper() -> None:
    reproduction = run(declared())
    mean = reproduction.compared["three", "mean"]
    assert mean.ours is not None
    assert mean.ours.value == pytest.approx(14 / 3)
    assert mean.ours.spread == pytest.approx(math.sqrt(98 / 9))
    assert mean.distance == 0.0  # 4.666... is printed as 4.7
    half = reproduction.compared["three", "half"]
    assert half.ours is None
    assert "3 is odd" in half.problem
    assert reproduction.failed == 1
    tally = reproduction.tally
    assert (tally.published, tally.at_hand, tally.close, tally.reproduced) == (4, 1, 1, 1)
    # A quick run leaves rows out.
    compared = run(declared(), quick=True).compared
    assert set(compared) == {("three", "mean"), ("three", "half")}
    mean = compared["three", "mean"]
    assert mean.ours is not None
    assert mean.ours.value == 2.5
    assert mean.distance == pytest.approx(4.4)
    assert not mean.reproduced


def test_three_points_are_within_three_points() -> None:
    """0.735 - 0.705 is a little more than 0.03 in binary."""
    study = declared(
        experiments=lambda quick: {"one": Computation(dict, {"x": {"accuracy": 0.735}})},
        numbers=published("  mean\n x  0.705"), entry=by_column(mean=Entry()), notes={},
    )  # fmt: skip
    assert run(study).compared["x", "mean"].distance == 2.0
    assert run(study).tally.reproduced == 1


def test_a_row_of_averages_is_the_mean_of_our_numbers() -> None:
    def experiments(quick: bool) -> dict[str, Computation]:
        sizes = {"a": 1.0} if quick else {"a": 1.0, "b": 4.0}
        return {"one": Computation(dict, {name: {"size": size} for name, size in sizes.items()})}

    def entry(row: str, column: str) -> Entry:
        return Entry(metric="size", unit=1.0, mean_of=("a", "b") if row == "average" else ())

    study = declared(
        experiments=experiments, entry=entry, notes={},
        numbers=published("   size\n a  1\n b  4\n average  2.5"),
    )  # fmt: skip
    ours = run(study).compared["average", "size"].ours
    assert ours is not None
    assert ours.value == 2.5
    assert set(run(study, quick=True).compared) == {("a", "size")}


def test_notes_decide_what_is_counted() -> None:
    for note, at_hand in ((Note("stand_ins", "Other data."), 0), (Note("impossible", "n < 0."), 1)):
        study = declared(notes={("three", "*"): note, ("four", "half"): Note("missing", "Lost.")})
        assert run(study).tally.at_hand == at_hand
    far = declared(
        numbers=published("  mean\n three  9.9"),
        notes={("three", "mean"): Note("deviations", "Rain.")},
    )
    tally = run(far).tally
    assert (tally.at_hand, tally.reproduced, tally.explained) == (1, 0, 1)
    twice, lost = Note("uncounted", "Shown twice."), Note("missing", "Lost.")
    again = run(declared(notes={("*", "mean"): twice, ("four", "*"): lost}))
    assert (again.tally.published, again.tally.at_hand, again.tally.uncounted) == (2, 0, 2)
    assert again.compared["three", "mean"].grade == "uncounted"


def test_statements_are_judged_by_the_outcomes() -> None:
    def checks(outcomes: dict[str, ComputationOutcome]) -> dict[str, Check]:
        largest = max(row["square"] for row in outcomes["squares"].rows)
        return {"nine": Check(np.equal(largest, 9), f"the largest is {largest:g}")}

    sentence = {"nine": "The largest square is nine."}
    full = run(declared(statements=sentence, checks=checks))
    assert full.verdicts == {"The largest square is nine.": Check(True, "the largest is 9")}
    assert all(type(one.holds) is bool for one in full.verdicts.values())
    quick = run(declared(statements=sentence, checks=checks), quick=True)
    assert quick.verdicts["The largest square is nine."] == Check(False, "the largest is 4")


def test_finished_settings_are_not_computed_again(tmp_path: Path) -> None:
    store = tmp_path / "cells.jsonl"
    CALLS.clear()
    first, again = (run(declared(), store=store).outcomes["squares"] for _ in range(2))
    assert CALLS == [3]
    assert again.rows == first.rows
    assert first.rows[2]["curve"] == [0, 1, 2]
    store.write_text("".join(store.read_text().splitlines(keepends=True)[1:]))
    run(declared(), store=store)
    assert CALLS == [3, 3]


def test_data_that_cannot_be_loaded_are_left_out() -> None:
    board = Data("checkerboard(n=40, cells=2)")
    lost = Data("checkerboard(n=-1)")

    def experiments(quick: bool) -> dict[str, Study | Computation]:
        return {
            "accuracy": Study({"board": board, "lost": lost}, {"5-NN": "KNN"}, RepeatedKFold(2)),
            "sizes": Computation(needs_data, {"board": {"data": board}, "lost": {"data": lost}}),
        }

    study = declared(
        experiments=experiments, notes={},
        numbers=published("       5-NN  n\n board  70  40\n lost  70  40"),
        entry=lambda row, column: {
            "5-NN": Entry(factor=100, unit=50),
            "n": Entry(metric="n", unit=1, experiment="sizes"),
        }[column],
    )  # fmt: skip
    reproduction = run(study)
    assert set(reproduction.absent) == {"lost"}
    assert reproduction.tally.at_hand == reproduction.tally.reproduced == 2
    assert "n" in reproduction.compared["lost", "5-NN"].problem
    sizes = reproduction.compared["board", "n"].ours
    assert sizes is not None
    assert sizes.value == 40


def test_pages_and_tables_are_written(tmp_path: Path) -> None:
    def draw(outcomes: object) -> object:
        from matplotlib.figure import Figure

        return Figure()

    name = next(iter(studies()))
    made = reproduce(name, declared(draw=draw))
    page = write_study(made, tmp_path).read_text()
    index = write_index(tmp_path).read_text()
    for part in ("Somebody (2000), Table 1", "4.7 ± 3.3", "Nobody kept it.", "3 is odd",
                 "data:image/svg+xml"):  # fmt: skip
        assert part in page
    assert f"python -m reproduction {name}" in page
    assert f'href="{name}.html"' in index
    assert "1 of 4 published numbers were run" in index
    table = (tmp_path / "markdown" / f"{name}.md").read_text()
    assert "| three | 4.7 ± 3.3 / 4.7 | – / 1.5 (1) |" in table
    assert f"[Somebody (2000), Table 1]({name}.md)" in (tmp_path / "markdown/README.md").read_text()


def test_studies_are_found_by_pattern() -> None:
    assert set(find("all")) == set(studies())
    assert set(find("guo-*")) == {f"guo-schuurmans-table-{k}" for k in (1, 2, 3)}
    with pytest.raises(UnknownName, match="guo-schuurmans-table-1"):
        find("guo-schuurmans-table-9")


@pytest.mark.parametrize("name", studies())
def test_every_study_is_whole(name: str) -> None:
    """Its text and its code belong together, and every note to something in its table."""
    study = studies()[name]
    assert study.paper
    assert study.place
    assert 0.0 < study.quick_minutes <= study.minutes
    assert bool(study.statements) == (study.draw is not None) == (study.checks is not None)
    assert study.numbers.facts or study.draw
    full, quick = study.experiments(False), study.experiments(True)
    assert set(quick) <= set(full)
    assert set(study.long) <= set(full)
    for place in study.numbers.facts:
        experiment = study.entry(*place).experiment
        assert experiment is None or experiment in full
    for (row, column), note in study.notes.items():
        assert row in ("*", *study.numbers.rows), row
        assert column in ("*", *study.numbers.columns), column
        assert note.reason
        # A reason of a deviation belongs to one number.
        assert note.kind != "deviations" or "*" not in (row, column)


@pytest.mark.parametrize("name", studies())
def test_the_committed_page_has_the_texts_of_the_declaration(name: str) -> None:
    """Numbers come from full runs; choices, statements and notes from the text as it is now."""
    study = studies()[name]
    page = Path(declaration.__file__).parents[1] / "docs" / "reproduction" / f"{name}.md"
    text = page.read_text(encoding="utf-8")
    assert text.startswith(f"# {study.heading}\n\n{study.title} ({study.place}).")
    assert [line[2:] for line in text.splitlines() if line.startswith("- ")] == list(study.choices)
    assert all(sentence.replace("|", "\\|") in text for sentence in study.statements.values())
    remarks = {LEADS[note.kind] + note.reason for note in study.notes.values()}
    shown = re.findall(r"^\(\d+\) (.*)$", text, re.MULTILINE)
    assert set(shown) <= remarks | {"Not run: it takes hours"}


@pytest.mark.parametrize("paper", PAPERS)
def test_no_place_of_a_text_is_named_twice(paper: str) -> None:
    """Rows, items, sentences and places of notes; every item has code."""
    path = Path(declaration.__file__).with_name(f"{paper}.toml")
    items = tomllib.loads(path.read_text(encoding="utf-8"))
    codes = importlib.import_module(f"reproduction.{paper}").STUDIES
    assert list(codes) == [item for item in items if item not in ("paper", "sentences")]
    for item in codes:
        study = studies()[f"{paper}-{item}".replace("_", "-")]
        for names in (study.numbers.rows, study.numbers.columns):
            assert len(set(names)) == len(names)
        found = [place for kind in LEADS for place in notes(kind, items[item].get(kind, ""))]
        heads = [
            line
            for kind in (*LEADS, "statements")
            for line in items[item].get(kind, "").strip().splitlines()
            if not line.startswith(" ")
        ]
        assert len(set(found)) == len(found)
        assert len(set(heads)) == len(heads)
        assert all(re.match(r"[^:]+: ?", line) for line in heads)


def test_methods_with_a_grid_are_compared_by_their_chosen_entries() -> None:
    def experiments(quick: bool) -> dict[str, Study]:
        data = {"board": Data("checkerboard(n=40, cells=2)", kernel="gaussian(gamma=1)")}
        return {"main": Study(data, {"SVM": Grid("SVMDual", C=[1, 10])}, RepeatedKFold(2))}

    study = declared(
        experiments=experiments, notes={},
        numbers=published("      SVM error\n board  20"),
        entry=lambda row, column: Entry("SVM", "error", factor=100),
    )  # fmt: skip
    made = run(study)
    ours = made.compared["board", "SVM error"].ours
    assert ours is not None
    outcome = made.outcomes["main"]
    best = max(
        np.mean([row["accuracy"] for row in outcome.rows if row["entry"] == k]) for k in (0, 1)
    )
    assert ours.value == pytest.approx(100.0 * (1.0 - best))
