"""Comparisons on one data set as tables for the terminal and for pages, and their cells."""

from __future__ import annotations

import math
import os
import re
import textwrap
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from indefinite_opt.figures import ComparisonLike, records_of, row_labels, without_solver
from indefinite_opt.quadratic import at_most
from indefinite_opt.studies.report.verdict import conclusions
from indefinite_opt.workflow import html_table, latex_table, markdown_table

if TYPE_CHECKING:
    from rich.table import Table

Row = Mapping[Any, Any]

_NUMBER = re.compile(r"[-+]?\d+(\.\d+)?(e[-+]?\d+)?")

MAX_ERRORS_SHOWN = 3
"""Number of different error messages shown per row; the table of folds has all of them."""


def number_text(value: float, form: str) -> str:
    return "–" if math.isnan(value) else format(value, form)


def score_texts(row: Row, comparison: ComparisonLike, units: bool = True) -> dict[str, str]:
    """The scores of a row by their titles; of one class also the ν of the method.

    The first one has its spread, such as 95.4 ± 1.2 %, unless there is a single cell.
    """
    texts: dict[str, str] = {}
    for score in comparison.scores:
        several = not texts and row["divisions"] - row["failed"] > 1
        spread = row[f"{score.name}_sd"] if several else None
        value, written = row[score.name], score.text if units else score.number
        texts[score.title] = "–" if math.isnan(value) else written(value, spread)
    if "nu" in row:
        texts["ν"] = number_text(row["nu"], ".4g")
    return texts


def score_titles(comparison: ComparisonLike) -> list[str]:
    """The keys of `score_texts`."""
    return [score.title for score in comparison.scores] + _nu(comparison)


def score_heads(comparison: ComparisonLike) -> list[str]:
    """The same with the units of the numbers."""
    return [score.head for score in comparison.scores] + _nu(comparison)


def _nu(comparison: ComparisonLike) -> list[str]:
    return ["ν"] if "nu" in comparison.summary else []


def claim_text(row: Row) -> str:
    return "FAILED" if row["failed"] == row["divisions"] else str(row["claim"])


def gap_text(row: Row) -> tuple[str, str]:
    """The name of the number that supports the claim, and the number."""
    return (row["gap_kind"], f"{row['gap']:.2g}") if row["gap_kind"] else ("", "–")


def within_text(share: float) -> str:
    """The relative gap to a proved bound.

    >>> within_text(2e-5), within_text(1.4), within_text(math.inf)
    ('2e-5', '2', '–')
    """
    if not math.isfinite(share):
        return "–"
    return f"{float(at_most(share)):g}" if share > 0.9 else at_most(share)


def proved_text(row: Row) -> str:
    """Within which gap all cells are proved, or how many of them have a bound at all."""
    known, cells = row["proved"], row["divisions"] - row["failed"]
    return f"{known} of {cells}" if 0 < known < cells else within_text(row["proved_within"])


def failures_text(comparison: ComparisonLike, row: Row) -> str:
    """The number of failed cells of a row with their messages; empty if none failed.

    Only one of several messages that differ in their numbers is shown.
    """
    if not row["failed"]:
        return ""
    errors: dict[str, str] = {}
    mine = [one for one in comparison.chosen_rows if one["method"] == row["method"]]
    for one in mine:
        told = " ".join(one["error"].split())
        if told:
            errors.setdefault(_NUMBER.sub("#", told), told)
    words = list(errors.values())[:MAX_ERRORS_SHOWN]
    if len(errors) > MAX_ERRORS_SHOWN:
        words.append(f"{len(errors) - MAX_ERRORS_SHOWN} other messages")
    return f"{row['failed']} of {row['divisions']} failed: {' | '.join(words)}"


def failures(comparison: ComparisonLike) -> list[tuple[str, str, str]]:
    """Method, solver and `failures_text` of each row with failed divisions."""
    rows = [row for row in records_of(comparison.summary) if row["failed"]]
    return [(without_solver(row), row["solver"], failures_text(comparison, row)) for row in rows]


_COLUMNS = ("claim", "proved within", "seconds", "objective", "SVs", "chosen", "solver", "evidence")
"""Columns of the terminal's table behind the method and its scores."""

_FOLDED = 32
"""Characters of the chosen parameters on a line, where they do not fit on one."""

_GAP = 2
"""Spaces between two columns."""


def table_cells(comparison: ComparisonLike) -> list[dict[str, str]]:
    """The summary as texts, by the heads of its columns in each row."""
    rows = []
    for row in records_of(comparison.summary):
        name, chosen = without_solver(row), row["chosen"]
        told = f"{name}: {chosen}" if chosen else name
        rows.append({"formulation": told, **_texts(row, comparison, ".6g", ".3g")})
    return rows


def _texts(row: Row, comparison: ComparisonLike, objective: str, seconds: str) -> dict[str, str]:
    """The cells of a row of the summary behind its name, with the forms of two numbers."""
    return {
        "solver": row["solver"],
        **score_texts(row, comparison),
        "objective": number_text(row["objective"], objective),
        "claim": claim_text(row),
        "proved within": proved_text(row),
        "evidence": " ".join(gap_text(row)).strip(),
        "SVs": number_text(row["support"], ".4g"),
        "seconds": number_text(row["seconds"], seconds),
    }


def to_latex(comparison: ComparisonLike, caption: str, label: str, chosen: bool) -> str:
    """The summary as a LaTeX table for booktabs: scores, claims, and within what is proved."""
    problem, summary = comparison.problem, records_of(comparison.summary)
    heads, rows = score_heads(comparison), []
    whole = all(row["support"] % 1.0 == 0.0 for row in summary if not math.isnan(row["support"]))
    counted = ".0f" if whole else ".1f"
    for name, row in zip(row_labels(comparison), summary, strict=True):
        scores = score_texts(row, comparison, units=False).values()
        cells = {
            "method": name, **dict(zip(heads, scores, strict=True)),
            "claim": claim_text(row).replace("-", "–"),  # a baseline has none
            "proved within": proved_text(row), "SVs": number_text(row["support"], counted),
        }  # fmt: skip
        rows.append(cells | ({"chosen": row["chosen"]} if chosen else {}))
    best = np.zeros((len(rows), len(rows[0])), dtype=bool)
    best[:, 1] = [is_best(row, comparison) for row in summary]
    settings = comparison.settings
    told = caption or (
        f"{problem.name}, n = {problem.n}: {settings['evaluation']}. Kernel: {settings['kernel']}"
    )
    return latex_table(rows, [*heads, "proved within", "SVs"], told, label, best)


def is_best(row: Row, comparison: ComparisonLike) -> bool:
    """Whether no row has a better first score, as far as the printed digits tell."""
    score = comparison.scores[0]
    known = [value for value in comparison.summary[score.name] if not math.isnan(value)]
    if not score.larger_is_better or math.isnan(row[score.name]):
        return False
    return score.number(row[score.name]) == score.number(max(known))


def to_markdown(comparison: ComparisonLike) -> str:
    """The summary as a GitHub Markdown table, followed by failures and conclusions."""
    paragraphs = [markdown_table(table_cells(comparison), _right(comparison))]
    paragraphs += [f"**{name}** ({solver}): {told}" for name, solver, told in failures(comparison)]
    return "\n\n".join([*paragraphs, *conclusions(comparison)]) + "\n"


def _right(comparison: ComparisonLike) -> list[str]:
    """The heads of the columns of numbers."""
    return [*score_titles(comparison), "objective", "proved within", "SVs", "seconds"]


def text_width() -> int:
    """The columns of text: those that the environment says, as for a pipe, else 100."""
    said = os.environ.get("COLUMNS", "")
    return int(said) if said.isdecimal() and int(said) >= 40 else 100


def text(comparison: ComparisonLike) -> str:
    """The table of `terminal_table` as plain text, why methods have failed, and the conclusions."""
    told = (textwrap.fill(sentence, text_width()) for sentence in _sentences(comparison))
    return "\n\n".join([_table_text(comparison), *told])


def html(comparison: ComparisonLike) -> str:
    """The summary, why methods have failed, and the conclusions in HTML."""
    problem = comparison.problem
    title = f"{problem.name} (n = {problem.n}), {comparison.settings['evaluation']}"
    return html_table(title, table_cells(comparison), _sentences(comparison))


def _sentences(comparison: ComparisonLike) -> list[str]:
    """Why methods have failed, and the conclusions."""
    failed = [f"{name} ({solver}): {told}" for name, solver, told in failures(comparison)]
    return failed + conclusions(comparison)


def _table_text(comparison: ComparisonLike) -> str:
    """The table of `terminal_table` as plain text."""
    import io

    from rich.console import Console

    stream, width = io.StringIO(), text_width()
    console = Console(width=width, file=stream, color_system=None)
    console.print(terminal_table(comparison, width))
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines())


def terminal_table(comparison: ComparisonLike, width: int = 100) -> Table:
    """The summary for a terminal, with one line for each method and as many columns as fit.

    No number is ever cut: columns that do not fit are left out as a whole, and the caption names
    them. Method, accuracy and claim always stay. The most frequent of the chosen parameters are
    shown, on two lines where one does not fit; the Markdown table has them all.
    """
    from rich import box
    from rich.table import Table

    labels, titles = row_labels(comparison), score_titles(comparison)
    rows = [
        _terminal_cells(label, row, comparison)
        for label, row in zip(labels, records_of(comparison.summary), strict=True)
    ]
    columns = ("method", *titles, *_COLUMNS)
    widths = {name: max(map(len, [name, *(str(row[name]) for row in rows)])) for name in columns}
    empty = "" if any(row["chosen"] for row in rows) else "chosen"
    shown, left_out = [name for name in columns if name != empty], []
    longest = max(len(word) for row in rows for word in ["", *row["chosen"].split()])
    whole, widths["chosen"] = widths["chosen"], min(widths["chosen"], max(longest, _FOLDED))
    # In this order narrow terminals go without columns.
    others = (
        "evidence", "solver", "SVs", "objective", "seconds", "proved within", "chosen",
        *reversed(titles[1:]),
    )  # fmt: skip
    for name in others:
        if sum(widths[each] + _GAP for each in shown) - _GAP <= width:
            break
        if name in shown:
            shown.remove(name)
            left_out.append(name)
    spare = max(width - sum(widths[name] + _GAP for name in shown) + _GAP, 0)
    told = ", ".join(reversed(left_out))
    table = Table(
        box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, _GAP - 1, 0, 0),
        caption=f"Not shown at this width: {told}." if told else None, caption_justify="left",
    )  # fmt: skip
    for name in shown:
        justify: Any = "right" if name in _right(comparison) else "left"
        most = min(whole, widths[name] + spare) if name == "chosen" else None
        folds = name in ("method", "chosen")
        table.add_column(name, justify=justify, no_wrap=not folds, max_width=most, overflow="fold")
    for cells in rows:
        table.add_row(*(cells[name] for name in shown))
    return table


def _terminal_cells(label: str, row: Row, comparison: ComparisonLike) -> dict[str, Any]:
    from rich.text import Text

    texts = _texts(row, comparison, ".4g", ".2g")
    styles = {"GLOBAL": "green", "LOCAL": "cyan", "STATIONARY": "yellow"}
    return {
        **texts,
        "method": Text(label),
        "chosen": row["chosen"].partition(" (")[0],
        "solver": Text(texts["solver"]),
        "claim": Text(texts["claim"], styles.get(texts["claim"], "red")),
    }
