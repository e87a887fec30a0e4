"""A study of a paper that was run, and its numbers beside the published ones."""

from __future__ import annotations

import importlib.metadata
import math
import platform
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure

from indefinite_opt.errors import IndefiniteOptError
from indefinite_opt.studies import Computation, ComputationOutcome, Data, Study, StudyOutcome
from reproduction.declaration import LEADS, Check, Entry, Fact, Note, PaperStudy

Experiment = Study | Computation
Outcome = StudyOutcome | ComputationOutcome
Measured = tuple[float, float | None]
"""Our number, and its standard deviation over several runs."""

MAX_DISTANCE = 2.0
"""Standard deviations by which a reproduced number may differ from the published one."""

GRADES = {
    "close": "within one standard deviation of the paper, or within 1.5 points where it prints "
    "none",
    "reproduced": "within two standard deviations, or within 3 points",
    "outside": "outside of these",
    "far": "more than four standard deviations, or 6 points, away",
    "stand-in": "from other data than the paper's, which are not at hand",
    "uncounted": "not counted: a time, or a number that proves nothing here, as its note says",
    "absent": "no number of ours",
}
"""What the colours of a table mean, by the names of their classes in the style sheet."""


@dataclass(frozen=True)
class Compared:
    """An entry of a published table and ours."""

    row: str
    column: str
    fact: Fact
    ours: Fact | None
    """With its standard deviation over runs, at the precision of the paper's."""
    distance: float
    """In units of the paper's standard deviation, or of what counts as one; NaN without `ours`."""
    counted: bool
    note: Note | None
    problem: str = ""
    """Why there is no number of ours: missing data, or an error."""

    @property
    def at_hand(self) -> bool:
        """Whether this is a published number that our data can reproduce."""
        return self.counted and self.ours is not None and not self._replaced

    @property
    def _replaced(self) -> bool:
        """Whether the data of the paper are not those that were run."""
        return self.note is not None and self.note.kind in ("missing", "stand_ins")

    @property
    def reproduced(self) -> bool:
        """Whether our number is within two standard deviations of the paper's."""
        return self.distance <= MAX_DISTANCE

    @property
    def grade(self) -> str:
        """Which of `GRADES` the entry has."""
        if self.ours is None:
            return "absent"
        if not self.counted:
            return "uncounted"
        if self._replaced:
            return "stand-in"
        if self.reproduced:
            return "close" if self.distance <= 1.0 else "reproduced"
        return "far" if self.distance > 2.0 * MAX_DISTANCE else "outside"

    @property
    def remark(self) -> str:
        """What is to be said of the entry; a reason of a deviation only where there is one."""
        note = self.note
        if note is not None and not (note.kind == "deviations" and self.ours and self.reproduced):
            return LEADS[note.kind] + note.reason
        return f"Not run: {self.problem}" if self.ours is None else ""


class Tally(NamedTuple):
    """How many published numbers are reproduced.

    `at_hand` of the numbers that count were run on the data of the paper; `close` and `reproduced`
    of these are within one and within two standard deviations of the paper's, and `explained`
    are others that have a reason of their own. `uncounted` prove nothing: times, what something was
    chosen by, and repetitions.
    """

    published: int = 0
    at_hand: int = 0
    close: int = 0
    reproduced: int = 0
    explained: int = 0
    uncounted: int = 0

    def __str__(self) -> str:
        if not self.at_hand:
            none = f"None of {self.published} published numbers was run on the original data."
            return none if self.published else ""
        rate = 100 * self.reproduced / self.at_hand
        left = self.at_hand - self.reproduced
        return (
            f"{self.at_hand} of {self.published} published numbers were run on the original data: "
            f"{self.close} agree within one standard deviation, {self.reproduced} ({rate:.0f} %) "
            "within two." + self._others(left)
        )

    def _others(self, left: int) -> str:
        """A sentence about the numbers that are not reproduced, if there are any."""
        if left == self.explained == 1:
            return " The other one has a reason."
        if left == self.explained:
            return f" Each of the other {left} has a reason." if left else ""
        return f" {self.explained} of the other {left} have a reason."


@dataclass(frozen=True, eq=False)
class Reproduction:
    """The outcome of `reproduce`: what was run, without the `absent` data, each with its reason."""

    name: str
    study: PaperStudy
    quick: bool
    experiments: dict[str, Experiment]
    outcomes: dict[str, Outcome]
    absent: dict[str, str]

    @cached_property
    def compared(self) -> dict[tuple[str, str], Compared]:
        """All published numbers of the rows that were run, with ours."""
        facts = self.study.numbers.facts
        entries = (self._compare(*place, fact) for place, fact in facts.items())
        return {(one.row, one.column): one for one in entries if one is not None}

    @cached_property
    def verdicts(self) -> dict[str, Check]:
        """What our numbers say of each statement of the paper on the figure."""
        study = self.study
        if study.checks is None or not self.outcomes:
            return {}
        found = study.checks(self.outcomes)
        return {
            sentence: Check(bool(found[name].holds), found[name].measured)
            for name, sentence in study.statements.items()
        }

    @cached_property
    def figure(self) -> Figure | None:
        """The figure in the layout of the paper; None for a table."""
        draw = self.study.draw
        return None if draw is None or not self.outcomes else draw(self.outcomes)

    @property
    def columns(self) -> list[str]:
        """The columns with an entry in `compared`, in the order of the paper."""
        used = {column for _, column in self.compared}
        return [name for name in self.study.numbers.columns if name in used]

    @property
    def lines(self) -> dict[str, list[Compared | None]]:
        """By row, in the order of the paper, the entry of each of the `columns`."""
        columns = self.columns
        lines = {
            row: [self.compared.get((row, column)) for column in columns]
            for row in self.study.numbers.rows
        }
        return {row: entries for row, entries in lines.items() if any(entries)}

    @cached_property
    def footnotes(self) -> tuple[list[str], dict[Compared, int]]:
        """The notes below the table, and the number, from 1, of that of each entry with one."""
        notes: dict[str, int] = {}
        marks = {
            one: notes.setdefault(one.remark, len(notes) + 1)
            for one in self.compared.values()
            if one.remark
        }
        return list(notes), marks

    @property
    def tally(self) -> Tally:
        """The counts of the published numbers; those that were not run are only published."""
        places = list(self.study.numbers.facts)
        counted = sum(self.study.counted(*place) for place in places)
        mine = [one for one in self.compared.values() if one.at_hand]
        return Tally(
            counted, len(mine), sum(one.distance <= 1.0 for one in mine),
            sum(one.reproduced for one in mine),
            sum(not one.reproduced and one.note is not None for one in mine),
            len(places) - counted,
        )  # fmt: skip

    @property
    def seconds(self) -> float:
        """Computing time of all cells, whenever they were run."""
        rows = (row for outcome in self.outcomes.values() for row in outcome.rows)
        return sum(row["cell_seconds"] for row in rows)

    @property
    def failed(self) -> int:
        """Number of rows with an error."""
        return sum(bool(row["error"]) for outcome in self.outcomes.values() for row in outcome.rows)

    @property
    def versions(self) -> dict[str, str]:
        """The versions of the packages, and of Python, that determine the numbers."""
        names = ("indefinite_opt", "numpy", "scipy", "scikit-learn", "highspy")
        found = {name: importlib.metadata.version(name) for name in names}
        return {**found, "python": platform.python_version()}

    @property
    def command(self) -> str:
        """The command that runs the study."""
        return f"python -m reproduction {self.name}{' --quick' if self.quick else ''}"

    def _compare(self, row: str, column: str, fact: Fact) -> Compared | None:
        """An entry beside our number; None if it does not belong to this run."""
        note, counted = self.study.note(row, column), self.study.counted(row, column)
        measured = self._measured(row, column)
        if measured is None:
            return None
        if isinstance(measured, str) or math.isnan(measured[0]):
            problem = measured if isinstance(measured, str) else ""
            return Compared(row, column, fact, None, math.nan, counted, note, problem)
        value, spread = measured
        # What is printed was rounded, so that ours is rounded, too; and 3.0 points are 3 points,
        # although the difference of .735 and .705 is a little larger in binary.
        difference = abs(round(value, fact.decimals) - fact.value)
        # Decimals after the ninth are rounding errors of the division.
        distance = round(difference / self.study.entry(row, column).spread(fact), 9)
        ours = Fact(value, spread, fact.decimals)
        return Compared(row, column, fact, ours, distance, counted, note)

    def _measured(self, row: str, column: str) -> Measured | str | None:
        """Our number, or why there is none.

        None if the entry does not belong to this run: a quick one leaves out rows and columns.
        """
        entry, note = self.study.entry(row, column), self.study.note(row, column)
        if entry.mean_of:
            parts = [self._measured(other, column) for other in entry.mean_of]
            strange = [part for part in parts if not isinstance(part, tuple)]
            if strange:
                return None if None in strange else strange[0]
            return float(np.mean([part[0] for part in parts if isinstance(part, tuple)])), None
        experiment = entry.experiment or next(iter(self.experiments), "")
        data = entry.data.format(row=row, column=column)
        lost = note.reason if note and note.kind == "missing" else self.absent.get(data)
        if lost is None and experiment in self.study.long and experiment not in self.experiments:
            lost = "it takes hours"
        if lost is not None:
            return None if self.quick else lost
        outcome = self.outcomes.get(experiment)
        if isinstance(outcome, StudyOutcome):
            return _tested(outcome, data, entry.method or column, entry)
        return _computed(outcome.settings.get(data, []), entry) if outcome else None


def _tested(outcome: StudyOutcome, data: str, method: str, entry: Entry) -> Measured | str | None:
    """The mean of a metric over the divisions of a data set."""
    rows, lines = (
        [one for one in table if (one["data"], one["method"]) == (data, method)]
        for table in (outcome.rows, outcome.table)
    )
    if not rows or not lines or lines[0]["failed"] == lines[0]["divisions"]:
        return str(rows[0]["error"]) if rows else None
    (line,) = lines
    metric = "accuracy" if entry.metric == "error" else entry.metric
    value = 1.0 - line[metric] if entry.metric == "error" else line[metric]
    return _scaled(entry, value, line[f"{metric}_sd"], line["divisions"])


def _computed(rows: list[dict[str, Any]], entry: Entry) -> Measured | str | None:
    """The mean of a number over the rows of a setting."""
    if not rows or rows[0]["error"]:
        return str(rows[0]["error"]) if rows else None
    numbers = [float(one[entry.metric]) for one in rows]
    return _scaled(entry, np.mean(numbers), np.std(numbers), len(rows))


def _scaled(entry: Entry, value: Any, spread: Any, runs: int) -> Measured:
    several = runs > 1 and not math.isnan(spread)
    return entry.factor * float(value), entry.factor * float(spread) if several else None


def reproduce(
    name: str,
    study: PaperStudy,
    *,
    quick: bool = False,
    long: bool = False,
    store: str | Path | None = None,
    n_jobs: int | None = None,
    cluster: Any = None,
    progress: Callable[[int, int, str], None] | None = None,
) -> Reproduction:
    """Run a study, or those of its cells that a store does not have yet.

    Data that cannot be loaded are left out, and named in the outcome. With `quick` only a part is
    run, as the study declares it; with `long` also the experiments that take hours. `progress` is
    called with the number of finished cells, of all cells of an experiment, and a title; the other
    arguments are those of `Study.run`.
    """
    experiments: dict[str, Experiment] = {}
    outcomes: dict[str, Outcome] = {}
    absent: dict[str, str] = {}
    for label, declared in study.experiments(quick).items():
        if label in study.long and not long:
            continue
        missing = _missing(declared)
        absent |= missing
        if len(missing) == len(declared.sources):
            continue
        experiments[label] = experiment = _without(declared, missing)

        def told(done: int, total: int, row: dict[str, Any], label: str = label) -> None:
            if progress:
                where = row.get("data") or row.get("setting") or ""
                progress(done, total, f"{name} {label}, {where}")

        outcomes[label] = experiment.run(store, n_jobs, cluster=cluster, progress=told)
    return Reproduction(name, study, quick, experiments, outcomes, absent)


def _missing(experiment: Experiment) -> dict[str, str]:
    """The data sets, or settings with data, that cannot be loaded, and why."""
    missing = {}
    for name, sources in experiment.sources.items():
        for source in [sources] if isinstance(sources, Data) else sources:
            try:
                _ = source.y
            except IndefiniteOptError as error:
                missing[name] = str(error)
    return missing


def _without(experiment: Experiment, names: Collection[str]) -> Experiment:
    """The experiment without some data or settings."""
    if isinstance(experiment, Computation):
        settings = {name: one for name, one in experiment.settings.items() if name not in names}
        return replace(experiment, settings=settings)
    kept = {name: data for name, data in experiment.sources.items() if name not in names}
    return replace(experiment, data=kept)
