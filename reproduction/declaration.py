"""What is declared of a table or figure of a paper: its text and its code."""

from __future__ import annotations

import functools
import importlib
import itertools
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

from matplotlib.figure import Figure

import indefinite_opt as iopt
from indefinite_opt.errors import UnknownName
from indefinite_opt.studies import Computation, Study
from indefinite_opt.workflow import Result

PAPERS = ("guo_schuurmans", "haasdonk", "lin_lin", "loosli", "luss")

POINTS_PER_UNIT = 1.5
"""Percentage points that count as one standard deviation of an accuracy that is printed without
one: two standard deviations then are 3 points, which are about what the mean of five random splits
of a few hundred points varies by."""

LEADS = {
    "deviations": "",
    "stand_ins": "Stand-in. ",
    "missing": "Missing. ",
    "impossible": "The paper's number cannot be right. ",
    "uncounted": "Not counted. ",
}
"""The kinds of notes by their names in TOML files, and what stands before each."""

_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?"
_FACT = re.compile(rf"({_NUMBER})(?:\s*(?:±|\()\s*({_NUMBER})\)?)?")


@dataclass(frozen=True)
class Fact:
    """A number of a paper, with its standard deviation if printed, and its decimal places."""

    value: float
    spread: float | None = None
    decimals: int = 0

    def __str__(self) -> str:
        spread = "" if self.spread is None else f" ± {self.spread:.{self.decimals}f}"
        return f"{self.value:.{self.decimals}f}{spread}"


class Table(NamedTuple):
    """The numbers of a published table by row and column, and both in their order."""

    rows: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    facts: Mapping[tuple[str, str], Fact] = {}


NOTHING = Table()
"""What a figure without printed numbers has."""


def published(text: str) -> Table:
    """The table that a text shows.

    The first line has the names of the columns, every other one the name of a row and a number for
    each column: 0.824, 82.7±1.4, 82.7 (1.4) with the standard deviation, or - where the paper has
    none. Entries are separated by two spaces or more.

    >>> table = published('''
    ...             SVM          5-NN
    ... heart       82.7 (1.4)   81
    ... cat cortex  -            95.71±0.9
    ... ''')
    >>> table.rows, table.columns
    (('heart', 'cat cortex'), ('SVM', '5-NN'))
    >>> table.facts["heart", "SVM"], ("cat cortex", "SVM") in table.facts
    (Fact(value=82.7, spread=1.4, decimals=1), False)
    """
    columns, *lines = (re.split(r"\s{2,}", line.strip()) for line in text.strip().splitlines())
    facts = {
        (row, column): _fact(entry)
        for row, *entries in lines
        for column, entry in zip(columns, entries, strict=True)
        if entry != "-"
    }
    return Table(tuple(row for row, *_ in lines), tuple(columns), facts)


def _fact(text: str) -> Fact:
    found = _FACT.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is no number")
    value, spread = found.groups()
    mantissa, _, exponent = value.partition("e")
    decimals = max(0, len(mantissa.partition(".")[2]) - int(exponent or 0))
    return Fact(float(value), None if spread is None else float(spread), decimals)


@dataclass(frozen=True)
class Entry:
    """Where our number for an entry of a published table comes from."""

    method: str | None = None
    """The label of the method in a `Study`; by default the name of the column."""
    metric: str = "accuracy"
    """One of `METRICS`, or "error" for 1 - accuracy; in a `Computation` the key of the number."""
    data: str = "{row}"
    """The data set, or the setting of a `Computation`, from the names in the published table."""
    experiment: str | None = None
    """By default the first one."""
    factor: float = 1.0
    """Our number is multiplied by it: 100 where the paper prints percentages."""
    unit: float | None = None
    """What counts as one standard deviation where the paper prints none, in the paper's units. By
    default 1.5 points for shares and percentages."""
    relative: float | None = None
    """The same as a share of the published number: for eigenvalues, counts and the like."""
    counted: bool = True
    """Whether the entry is compared at all; times, for instance, depend on the machine."""
    mean_of: tuple[str, ...] = ()
    """Rows of which our number is the mean, as in a last row of averages."""

    def spread(self, fact: Fact) -> float:
        """One standard deviation of a published number, at least half a unit of its last digit."""
        rounding = 0.5 * 10.0**-fact.decimals
        if fact.spread is not None:
            return max(fact.spread, rounding)
        if self.relative is not None:
            return max(self.relative * abs(fact.value), rounding)
        return POINTS_PER_UNIT / 100.0 * self.factor if self.unit is None else self.unit


def own_column(row: str, column: str) -> Entry:
    """The entry of a data set and of the method that has the name of the column."""
    return Entry()


def solve(
    problem: iopt.KernelProblem, formulation: Any, solver: str | None = None, **options: Any
) -> Result:
    """As `iopt.solve`, but Ctrl-C ends the run: a search that it has ended makes no cell."""
    result = iopt.solve(problem, formulation, solver, **options)
    if result.status is iopt.Status.INTERRUPTED:
        raise KeyboardInterrupt
    return result


class Check(NamedTuple):
    """Whether a sentence of a paper on a figure holds for our numbers, and these numbers."""

    holds: bool
    measured: str


class Note(NamedTuple):
    """A sentence on a row, a column or an entry of a published table, of a kind in `LEADS`."""

    kind: str
    reason: str


Experiments = Mapping[str, Study | Computation]


@dataclass(frozen=True, eq=False)
class Code:
    """What of a study is code; the docstring of `reproduction` explains the fields."""

    experiments: Callable[[bool], Experiments]
    entry: Callable[[str, str], Entry] = own_column
    draw: Callable[[Any], Figure] | None = None
    checks: Callable[[Any], Mapping[str, Check]] | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class PaperStudy(Code):
    """A table or figure of a paper: its code, and what the paper says.

    The fields are those of the docstring of `reproduction`; `notes` are by (row, column), where *
    stands for all.
    """

    paper: str
    item: str
    place: str
    title: str
    minutes: float
    quick_minutes: float
    data: Sequence[str]
    numbers: Table = NOTHING
    choices: Sequence[str] = ()
    notes: Mapping[tuple[str, str], Note] = field(default_factory=dict)
    long: Sequence[str] = ()
    statements: Mapping[str, str] = field(default_factory=dict)

    @property
    def heading(self) -> str:
        return f"{self.paper}, {self.item}"

    def note(self, row: str, column: str) -> Note | None:
        """The note on an entry: its own one, else that of its row, else that of its column."""
        return next(iter(self._notes(row, column)), None)

    def counted(self, row: str, column: str) -> bool:
        """Whether an entry is compared, and no note says that it proves nothing."""
        proves_nothing = any(note.kind == "uncounted" for note in self._notes(row, column))
        return self.entry(row, column).counted and not proves_nothing

    def _notes(self, row: str, column: str) -> list[Note]:
        places = ((row, column), (row, "*"), ("*", column))
        return [self.notes[place] for place in places if place in self.notes]


def declared(text: str, codes: Mapping[str, Code]) -> dict[str, PaperStudy]:
    """The studies of a paper by item, from the text of its TOML file and the code of each item."""
    items = tomllib.loads(text)
    paper, sentences = items.pop("paper"), _named(items.pop("sentences", ""))

    def whole(text: str) -> str:
        return re.sub(r"\{(\w+)\}", lambda name: sentences[name[1]], text)

    studies = {}
    for item, parts in items.items():
        remarks = [notes(kind, whole(parts.pop(kind, ""))) for kind in LEADS]
        studies[item] = PaperStudy(
            paper=paper,
            item=item.replace("-", " ").capitalize(),
            numbers=published(parts.pop("numbers")) if "numbers" in parts else NOTHING,
            choices=_paragraphs(whole(parts.pop("choices", ""))),
            statements=_named(parts.pop("statements", "")),
            notes={place: note for kind in remarks for place, note in kind.items()},
            **vars(codes[item]),
            **parts,
        )
    return studies


def notes(kind: str, text: str) -> dict[tuple[str, str], Note]:
    """Notes of one kind, each after its rows and, behind a comma, its columns.

    Lines that are indented continue the note above them; rows and columns are separated by /.

    >>> found = notes("deviations", '''
    ... heart, SVM: The grid is not printed; C of 3
    ...   gives .82.
    ... sonar/wine, SVM/KNN: The echoes are lost.
    ... iris: There are three classes.
    ... ''')
    >>> found["heart", "SVM"]
    Note(kind='deviations', reason='The grid is not printed; C of 3 gives .82.')
    >>> list(found)[1:]
    [('sonar', 'SVM'), ('sonar', 'KNN'), ('wine', 'SVM'), ('wine', 'KNN'), ('iris', '*')]
    """
    found = {}
    for name, reason in _named(text).items():
        rows, comma, columns = name.rpartition(", ")
        rows, columns = (rows, columns) if comma else (name, "*")
        for place in itertools.product(rows.split("/"), columns.split("/")):
            found[place] = Note(kind, reason)
    return found


def _paragraphs(text: str) -> list[str]:
    """The lines of a text, where those that are indented continue the one above."""
    return re.sub(r"\n +", " ", text.strip()).splitlines()


def _named(text: str) -> dict[str, str]:
    """Paragraphs by the names in front of their first colon."""
    named = (paragraph.partition(": ") for paragraph in _paragraphs(text))
    return {name: sentence for name, _, sentence in named}


@functools.cache
def studies() -> dict[str, PaperStudy]:
    """All studies by name: that of the paper, and that of the item.

    >>> list(studies())[0]
    'guo-schuurmans-table-1'
    """
    found = {}
    for paper in PAPERS:
        text = Path(__file__).with_name(f"{paper}.toml").read_text(encoding="utf-8")
        codes = importlib.import_module(f"reproduction.{paper}").STUDIES
        for item, study in declared(text, codes).items():
            found[f"{paper}-{item}".replace("_", "-")] = study
    return found


def find(pattern: str) -> dict[str, PaperStudy]:
    """The studies whose names fit a pattern such as guo-*, or all of them."""
    wanted = "*" if pattern == "all" else pattern
    found = {name: study for name, study in studies().items() if fnmatchcase(name, wanted)}
    if not found:
        raise UnknownName("study", pattern, studies())
    return found
