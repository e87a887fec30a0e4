"""Comparisons as tables for the terminal and in Markdown, and the texts of their cells."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from indefinite_opt.figures import ComparisonLike, Score, records_of, row_labels, scores_of
from indefinite_opt.problem import KernelProblem
from indefinite_opt.studies.report.verdict import conclusions

if TYPE_CHECKING:
    from rich.table import Table

Row = Mapping[Any, Any]

_NUMBER = re.compile(r"[-+]?\d+(\.\d+)?(e[-+]?\d+)?")

MAX_ERRORS_SHOWN = 3
"""Number of different error messages shown per row; the table of folds has all of them."""


def number_text(value: float, form: str) -> str:
    return "–" if math.isnan(value) else format(value, form)


def score_text(row: Row, score: Score, first: bool = True) -> str:
    """Mean and, of the first score, spread, such as 95.4 ± 1.2 %; a single cell has no spread."""
    if math.isnan(row[score.name]):
        return "–"
    several = first and row["cells"] - row["failed"] > 1
    return score.text(row[score.name], row["spread"] if several else None)


def score_texts(row: Row, problem: KernelProblem) -> dict[str, str]:
    """The scores of a row by their titles; of one class also the ν of the method."""
    scores = scores_of(problem)
    texts = {score.title: score_text(row, score, score is scores[0]) for score in scores}
    if problem.task == "one class":
        texts["ν"] = number_text(row["nu"], ".4g")
    return texts


def score_titles(problem: KernelProblem) -> list[str]:
    """The keys of `score_texts`."""
    titles = [score.title for score in scores_of(problem)]
    return [*titles, "ν"] if problem.task == "one class" else titles


def heads(problem: KernelProblem) -> list[str]:
    """The heads of the columns of `table_cells`."""
    rest = ("objective", "claim", "evidence", "SVs", "seconds")
    return ["formulation", "solver", *score_titles(problem), *rest]


def claim_text(row: Row) -> str:
    return "FAILED" if row["failed"] == row["cells"] else str(row["claim"])


def gap_text(row: Row) -> tuple[str, str]:
    """The name of the number that supports the claim, and the number."""
    return (row["gap_kind"], f"{row['gap']:.2g}") if row["gap_kind"] else ("", "–")


def failures_text(comparison: ComparisonLike, row: Row) -> str:
    """The number of failed cells of a row with their messages; empty if none failed.

    Of messages that differ in their numbers only, one is shown.
    """
    if not row["failed"]:
        return ""
    frame = comparison.frame
    mine = (frame["formulation"] == row["formulation"]) & (frame["solver"] == row["solver"])
    errors: dict[str, str] = {}
    for error in frame[mine]["error"]:
        told = " ".join(error.split())
        if told:
            errors.setdefault(_NUMBER.sub("#", told), told)
    words = list(errors.values())[:MAX_ERRORS_SHOWN]
    if len(errors) > MAX_ERRORS_SHOWN:
        words.append(f"{len(errors) - MAX_ERRORS_SHOWN} other messages")
    return f"{row['failed']} of {row['cells']} failed: {' | '.join(words)}"


def failures(comparison: ComparisonLike) -> list[tuple[str, str, str]]:
    """Formulation, solver and `failures_text` of each row with failed cells."""
    rows = [row for row in records_of(comparison.summary) if row["failed"]]
    return [(row["formulation"], row["solver"], failures_text(comparison, row)) for row in rows]


_COLUMNS = ("claim", "seconds", "objective", "SVs", "chosen", "solver", "evidence")
"""Columns of the terminal's table behind the method and its scores."""

_GAP = 2
"""Spaces between two columns."""


def table_cells(comparison: ComparisonLike) -> list[list[str]]:
    """The summary as texts, one for each of `heads` in each row."""
    rows = []
    for row in records_of(comparison.summary):
        chosen = row["chosen"]
        name = f"{row['formulation']}: {chosen}" if chosen else row["formulation"]
        rows.append([name, *_texts(row, comparison.problem, ".6g", ".3g").values()])
    return rows


def _texts(row: Row, problem: KernelProblem, objective: str, seconds: str) -> dict[str, str]:
    """The cells of a row of the summary behind its name, with the forms of two numbers."""
    return {
        "solver": row["solver"],
        **score_texts(row, problem),
        "objective": number_text(row["objective"], objective),
        "claim": claim_text(row),
        "evidence": " ".join(gap_text(row)).strip(),
        "SVs": number_text(row["support"], ".4g"),
        "seconds": number_text(row["seconds"], seconds),
    }


def to_markdown(comparison: ComparisonLike) -> str:
    """The summary as a GitHub Markdown table, followed by failures and conclusions."""
    lines = []
    titles = score_titles(comparison.problem)
    for cells in (heads(comparison.problem), *table_cells(comparison)):
        shown = (cell.replace("|", "\\|").replace("\n", " ") for cell in cells)
        lines.append(f"| {' | '.join(shown)} |")
    lines.insert(1, f"|---|---|{'---:|' * len(titles)}---:|---|---|---:|---:|")
    paragraphs = [f"**{name}** ({solver}): {told}" for name, solver, told in failures(comparison)]
    paragraphs += conclusions(comparison)
    return "\n".join([*lines, *(line for text in paragraphs for line in ("", text)), ""])


def table_text(comparison: ComparisonLike) -> str:
    """The table of `terminal_table` as plain text."""
    import io

    from rich.console import Console

    stream = io.StringIO()
    Console(width=100, file=stream, color_system=None).print(terminal_table(comparison))
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines())


def terminal_table(comparison: ComparisonLike, width: int = 100) -> Table:
    """The summary for a terminal, with one line for each method and as many columns as fit.

    No number is ever cut: columns that do not fit are left out as a whole, and the caption names
    them. Method, accuracy and claim always stay. Of the parameters that were chosen the most
    frequent ones are shown; the Markdown table has them all.
    """
    from rich import box
    from rich.table import Table

    labels, titles = row_labels(comparison), score_titles(comparison.problem)
    rows = [
        _terminal_cells(label, row, comparison.problem)
        for label, row in zip(labels, records_of(comparison.summary), strict=True)
    ]
    columns = ("method", *titles, *_COLUMNS)
    widths = {name: max(map(len, [name, *(str(row[name]) for row in rows)])) for name in columns}
    empty = [name for name in ("chosen",) if not any(row[name] for row in rows)]
    shown, left_out = [name for name in columns if name not in empty], []
    # In this order narrow terminals go without columns.
    others = ("evidence", "solver", "SVs", "objective", "seconds", "chosen", *reversed(titles[1:]))
    for name in others:
        if sum(widths[each] + _GAP for each in shown) - _GAP <= width:
            break
        if name in shown:
            shown.remove(name)
            left_out.append(name)
    told = ", ".join(reversed(left_out))
    table = Table(
        box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, _GAP - 1, 0, 0),
        caption=f"Not shown at this width: {told}." if told else None, caption_justify="left",
    )  # fmt: skip
    for name in shown:
        right = name in (*titles, "objective", "SVs", "seconds")
        justify: Any = "right" if right else "left"
        table.add_column(name, justify=justify, no_wrap=name != "method", overflow="fold")
    for cells in rows:
        table.add_row(*(cells[name] for name in shown))
    return table


def _terminal_cells(label: str, row: Row, problem: KernelProblem) -> dict[str, Any]:
    from rich.text import Text

    texts = _texts(row, problem, ".4g", ".2g")
    styles = {"GLOBAL": "green", "LOCAL": "cyan", "STATIONARY": "yellow"}
    return {
        **texts,
        "method": Text(label),
        "chosen": row["chosen"].partition(" (")[0],
        "solver": Text(texts["solver"]),
        "claim": Text(texts["claim"], styles.get(texts["claim"], "red")),
    }
