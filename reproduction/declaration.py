"""What a study of a paper declares, as the docstring of `studies.papers` explains."""

from __future__ import annotations

import functools
import importlib
import itertools
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from indefinite_opt.errors import ParameterError, UnknownName
from indefinite_opt.studies.papers.framework.computation import Computation, ComputationOutcome
from indefinite_opt.studies.study import Study, StudyOutcome

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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


class PublishedTable(dict[tuple[str, str], Fact]):
    """The numbers of a table by row and column, both in their order; see `published`."""

    def __init__(self, columns: tuple[str, ...], lines: Mapping[str, tuple[Fact | None, ...]]):
        super().__init__(
            ((row, column), fact)
            for row, facts in lines.items()
            for column, fact in zip(columns, facts, strict=True)
            if fact is not None
        )
        self.columns, self.rows = columns, tuple(lines)


def published(text: str) -> PublishedTable:
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
    >>> table["heart", "SVM"], ("cat cortex", "SVM") in table
    (Fact(value=82.7, spread=1.4, decimals=1), False)
    """
    heads, *lines = (
        re.split(r"\s{2,}", line.strip()) for line in text.splitlines() if line.strip()
    )
    facts: dict[str, tuple[Fact | None, ...]] = {}
    for name, *entries in lines:
        if len(entries) != len(heads) or name in facts:
            expected = f"a row of its own with {len(heads)} entries for {name!r}"
            raise ParameterError("published", expected, f"{len(entries)}: {entries}")
        facts[name] = tuple(None if entry == "-" else _fact(entry) for entry in entries)
    if len(set(heads)) < len(heads):
        raise ParameterError("published", "columns of different names", repr(heads))
    return PublishedTable(tuple(heads), facts)


def _fact(text: str) -> Fact:
    found = _FACT.fullmatch(text)
    if found is None:
        raise ParameterError("published", "a number, or one with its deviation", repr(text))
    value, spread = found.groups()
    mantissa = value.partition("e")[0]
    decimals = len(mantissa.partition(".")[2])
    if "e" in value:
        decimals = max(0, decimals - int(value.partition("e")[2]))
    return Fact(float(value), None if spread is None else float(spread), decimals)


Outcomes = Mapping[str, "StudyOutcome | ComputationOutcome"]
Experiments = Mapping[str, Study | Computation]
Place = str | tuple[str, str]

POINTS_PER_UNIT = 1.5
"""Percentage points that count as one standard deviation of an accuracy that is printed without
one: two standard deviations then are 3 points, which are about what the mean of five random splits
of a few hundred points varies by."""


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


class Check(NamedTuple):
    """Whether a sentence of a paper on a figure holds for our numbers, and these numbers."""

    holds: bool
    measured: str


LEADS = {
    "deviations": "",
    "stand_ins": "Stand-in. ",
    "missing": "Missing. ",
    "impossible": "The paper's number cannot be right. ",
    "uncounted": "Not counted. ",
}
"""The kinds of notes by their names in TOML files, and what stands before each."""


class Note(NamedTuple):
    """A sentence on a row, a column or an entry of a published table, of a kind in `LEADS`."""

    kind: str
    reason: str


@dataclass(frozen=True, eq=False)
class Code:
    """What of a study is code; the docstring of `studies.papers` explains the fields."""

    experiments: Experiments | Callable[[bool], Experiments]
    entries: Mapping[str, Entry] | Callable[[str, str], Entry] = field(default_factory=dict)
    draw: Callable[[Any], Figure] | None = None
    checks: Callable[[Any], Mapping[str, Check]] | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class PaperStudy(Code):
    """A table or figure of a paper: its code, what the paper says, and how both are shown.

    The fields are those of the docstring of `studies.papers`; `notes` are by row, by ("*", column)
    or by (row, column), one of `deviations` by (row, column) only.
    """

    paper: str
    item: str
    place: str
    title: str
    minutes: float
    quick_minutes: float
    data: Sequence[str]
    numbers: PublishedTable = field(default_factory=lambda: PublishedTable((), {}))
    choices: Sequence[str] = ()
    notes: Mapping[Any, Note] = field(default_factory=dict)
    long: Sequence[str] = ()
    statements: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if bool(self.statements) != (self.checks is not None):
            raise ParameterError("checks", "a function that checks the statements", "only one")
        if not self.numbers and self.draw is None:
            raise ParameterError("numbers", "a published table or a function that draws", "none")
        for place in self.notes:
            row, column = (place, "*") if isinstance(place, str) else place
            rows, columns = self.numbers.rows, self.numbers.columns
            if row not in ("*", *rows) or column not in ("*", *columns):
                raise ParameterError("notes", "rows and columns of the numbers", repr(place))
            if self.notes[place].kind == "deviations" and "*" in (row, column):
                raise ParameterError("deviations", "a row and a column for each", repr(place))

    @property
    def heading(self) -> str:
        return f"{self.paper}, {self.item}"

    def run_by(self, quick: bool) -> Experiments:
        """The experiments of a full or of a quick run."""
        return self.experiments(quick) if callable(self.experiments) else self.experiments

    def entry(self, row: str, column: str) -> Entry:
        """Where our number for an entry of the published table comes from."""
        if callable(self.entries):
            return self.entries(row, column)
        return self.entries.get(column, Entry())

    def note(self, row: str, column: str) -> Note | None:
        """The note on an entry: its own one, else that of its row, else that of its column."""
        return next(iter(self._notes(row, column)), None)

    def counted(self, row: str, column: str) -> bool:
        """Whether an entry is compared, and no note says that it proves nothing."""
        proves_nothing = any(note.kind == "uncounted" for note in self._notes(row, column))
        return self.entry(row, column).counted and not proves_nothing

    def _notes(self, row: str, column: str) -> list[Note]:
        places: tuple[Place, ...] = ((row, column), row, (row, "*"), ("*", column))
        return [self.notes[place] for place in places if place in self.notes]


def declared(text: str, codes: Mapping[str, Code]) -> dict[str, PaperStudy]:
    """The studies of a paper by item, from the text of its TOML file and the code of each item."""
    items = tomllib.loads(text)
    paper, sentences = items.pop("paper"), _named(items.pop("sentences", ""))
    if items.keys() != codes.keys():
        expected = f"the items of the text, {', '.join(items)}"
        raise ParameterError("codes", expected, ", ".join(codes))

    def whole(text: str) -> str:
        return re.sub(r"\{(\w+)\}", lambda name: sentences[name[1]], text)

    studies = {}
    for item, parts in items.items():
        numbers, choices = parts.pop("numbers", ""), whole(parts.pop("choices", ""))
        remarks: dict[Place, Note] = {}
        for kind in LEADS:
            for place, note in notes(kind, whole(parts.pop(kind, ""))).items():
                if place in remarks:
                    raise ParameterError("notes", "every place once", f"{place} in {item}")
                remarks[place] = note
        studies[item] = PaperStudy(
            paper=paper,
            item=item.replace("-", " ").capitalize(),
            numbers=published(numbers) if numbers else PublishedTable((), {}),
            choices=_paragraphs(choices),
            statements=_named(parts.pop("statements", "")),
            notes=remarks,
            **vars(codes[item]),
            **parts,
        )
    return studies


def notes(kind: str, text: str) -> dict[Place, Note]:
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
    >>> list(found)[1:4]
    [('sonar', 'SVM'), ('sonar', 'KNN'), ('wine', 'SVM')]
    """
    found: dict[Place, Note] = {}
    for name, reason in _named(text).items():
        rows, comma, columns = name.rpartition(", ")
        pairs = itertools.product(rows.split("/"), columns.split("/"))
        places: Iterable[Place] = pairs if comma else name.split("/")
        for place in places:
            if "" in (place if comma else (place,)) or place in found:
                raise ParameterError("notes", "every place once, with its row", repr(name))
            found[place] = Note(kind, reason)
    return found


def _paragraphs(text: str) -> tuple[str, ...]:
    """The lines of a text, where those that are indented continue the one above."""
    return tuple(re.sub(r"\n +", " ", text.strip()).splitlines())


def _named(text: str) -> dict[str, str]:
    """Paragraphs by the names in front of their first colon."""
    named: dict[str, str] = {}
    for paragraph in _paragraphs(text):
        name, _, sentence = paragraph.partition(": ")
        if not sentence or name in named:
            raise ParameterError("text", "'name: sentence', each name once", repr(paragraph))
        named[name] = sentence
    return named


@functools.cache
def studies() -> dict[str, PaperStudy]:
    """All studies by name: that of the file, with - for _, and that of the item.

    >>> list(studies())[0]
    'guo-schuurmans-table-1'
    """
    papers, package = Path(__file__).parents[1], __name__.rpartition(".framework")[0]
    found = {}
    for path in sorted(papers.glob("*.toml")):
        codes = importlib.import_module(f"{package}.{path.stem}").STUDIES
        for item, study in declared(path.read_text(encoding="utf-8"), codes).items():
            found[f"{path.stem}-{item}".replace("_", "-")] = study
    return found


def find(pattern: str) -> dict[str, PaperStudy]:
    """The studies whose names fit a pattern such as guo-*, or all of them."""
    wanted = "*" if pattern == "all" else pattern
    found = {name: study for name, study in studies().items() if fnmatchcase(name, wanted)}
    if not found:
        raise UnknownName("study", pattern, studies())
    return found
