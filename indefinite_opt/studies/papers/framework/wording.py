"""The words and signs that pages, Markdown files and the terminal share."""

from __future__ import annotations

import math

from indefinite_opt.studies.papers.framework.declaration import (
    Deviation,
    Impossible,
    Missing,
    StandIn,
    Uncounted,
)
from indefinite_opt.studies.papers.framework.reproduction import Compared, Reproduction, Tally

__all__ = ["GRADES", "duration", "footnotes", "grade", "ours_text", "statements_held", "summary"]

FAR = 4.0
"""Standard deviations from which on a difference has the strongest colour: twice those allowed."""

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

_LEADS = {
    Missing: "Missing. ",
    StandIn: "Stand-in. ",
    Uncounted: "Not counted. ",
    Impossible: "The paper's number cannot be right. ",
    Deviation: "",
}


def grade(one: Compared) -> str:
    """Which of `GRADES` an entry has."""
    if one.ours is None:
        return "absent"
    if not one.counted:
        return "uncounted"
    if isinstance(one.note, StandIn | Missing):
        return "stand-in"
    if one.reproduced:
        return "close" if one.distance <= 1.0 else "reproduced"
    return "far" if one.distance > FAR else "outside"


def ours_text(one: Compared) -> str:
    """Our number with the precision of the paper's; – if there is none."""
    if one.ours is None:
        return "–"
    decimals = one.fact.decimals
    spread = one.ours.spread
    shown = "" if math.isnan(spread) else f" ± {spread:.{decimals}f}"
    return f"{one.ours.value:.{decimals}f}{shown}"


def footnotes(reproduction: Reproduction) -> tuple[list[str], dict[tuple[str, str], int]]:
    """The notes below a table, and the number, from 1, of that of each entry that has one."""
    notes: dict[str, int] = {}
    marks = {}
    for place, one in reproduction.compared.items():
        text = _note_text(one)
        if text:
            marks[place] = notes.setdefault(text, len(notes) + 1)
    return list(notes), marks


def _note_text(one: Compared) -> str:
    note = one.note
    if note is not None and not (isinstance(note, Deviation) and one.ours and one.reproduced):
        return _LEADS.get(type(note), "") + note.reason
    return f"Not run: {one.problem}" if one.ours is None else ""


def summary(tally: Tally) -> str:
    """How many published numbers are reproduced; empty if there are none.

    >>> summary(Tally(published=4))
    'None of 4 published numbers was run on the data of the paper.'
    >>> summary(Tally(published=4, at_hand=2, close=1, reproduced=1)).partition("; ")[2]
    'of these we reproduce 1 within one standard deviation and 1 (50 %) within two, or 3 points \
where none is printed. Of the other 1, 0 have their own reason.'
    """
    if not tally.at_hand:
        none = f"None of {tally.published} published numbers was run on the data of the paper."
        return none if tally.published else ""
    rate = 100 * tally.reproduced / tally.at_hand
    left = tally.at_hand - tally.reproduced
    return (
        f"Of {tally.published} published numbers {tally.at_hand} were run on the data of the "
        f"papers; of these we reproduce {tally.close} within one standard deviation and "
        f"{tally.reproduced} ({rate:.0f} %) within two, or 3 points where none is printed."
        + (f" Of the other {left}, {tally.explained} have their own reason." if left else "")
    )


def statements_held(held: int, total: int) -> str:
    """How many statements of a paper hold; empty without statements.

    >>> statements_held(2, 3)
    'Of 3 statements of the paper 2 hold here.'
    """
    return f"Of {total} statements of the paper {held} hold here." if total else ""


def duration(seconds: float) -> str:
    """A time in seconds, minutes or hours.

    >>> duration(0.3), duration(90), duration(10000)
    ('0.3 s', '1.5 min', '2.8 h')
    """
    for size, unit in ((3600.0, "h"), (60.0, "min")):
        if seconds >= size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.1f} s"
