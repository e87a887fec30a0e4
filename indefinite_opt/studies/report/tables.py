"""Comparisons as tables for the terminal and in Markdown."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from indefinite_opt.figures import ComparisonLike

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["terminal_table", "to_markdown"]

Row = Mapping[Any, Any]

_HEADS = ("formulation", "solver", "accuracy", "objective", "claim", "evidence", "SVs", "seconds")

MAX_ERRORS_SHOWN = 3
"""Number of different error messages shown per row; the table of folds has all of them."""


def records_of(table: Any) -> list[dict[Any, Any]]:
    return list(table.to_dict("records"))


def chosen_text(row: Row) -> str:
    """The parameters that a grid left to be chosen, with the number of cells that chose them."""
    return str(row.get("chosen", ""))


def number_text(value: float, form: str) -> str:
    return "–" if math.isnan(value) else format(value, form)


def accuracy_text(row: Row) -> str:
    """Mean and spread, such as 95.4 ± 1.2 %; a single cell has no spread."""
    if math.isnan(row["accuracy"]):
        return "–"
    several = row["cells"] - row["failed"] > 1
    spread = f" ± {100.0 * row['spread']:.1f}" if several else ""
    return f"{100.0 * row['accuracy']:.1f}{spread} %"


def claim_text(row: Row) -> str:
    return "FAILED" if row["failed"] == row["cells"] else str(row["claim"])


def gap_text(row: Row) -> tuple[str, str]:
    """The name of the number that supports the claim, and the number."""
    return (row["gap_kind"], f"{row['gap']:.2g}") if row["gap_kind"] else ("", "–")


def failures_text(comparison: ComparisonLike, row: Row) -> str:
    """The number of failed cells of a row with their messages; empty if none failed."""
    if not row["failed"]:
        return ""
    frame = comparison.frame
    mine = (frame["formulation"] == row["formulation"]) & (frame["solver"] == row["solver"])
    errors = Counter(" ".join(error.split()) for error in frame[mine]["error"] if error)
    words = [message for message, _ in errors.most_common(MAX_ERRORS_SHOWN)]
    if len(errors) > MAX_ERRORS_SHOWN:
        words.append(f"{len(errors) - MAX_ERRORS_SHOWN} other messages")
    return f"{row['failed']} of {row['cells']} failed: {' | '.join(words)}"


def to_markdown(comparison: ComparisonLike) -> str:
    """The summary as a GitHub Markdown table, followed by one line per row with failures.

    Parameters
    ----------
    comparison : Comparison

    Returns
    -------
    str
    """
    lines = [_markdown_row(_HEADS), "|---|---|---:|---:|---|---|---:|---:|"]
    failures = []
    for row in records_of(comparison.summary):
        chosen = chosen_text(row)
        lines.append(_markdown_row([
            f"{row['formulation']}: {chosen}" if chosen else row["formulation"], row["solver"],
            accuracy_text(row), number_text(row["objective"], ".6g"),
            claim_text(row), " ".join(gap_text(row)).strip(), number_text(row["support"], ".4g"),
            number_text(row["seconds"], ".3g"),
        ]))  # fmt: skip
        failed = failures_text(comparison, row)
        if failed:
            failures += ["", f"**{row['formulation']}** ({row['solver']}): {failed}"]
    return "\n".join([*lines, *failures, ""])


def _markdown_row(cells: Iterable[Any]) -> str:
    shown = (str(cell).replace("|", "\\|").replace("\n", " ") for cell in cells)
    return f"| {' | '.join(shown)} |"


_TERMINAL_STYLES = {"GLOBAL": "green", "LOCAL": "cyan", "STATIONARY": "yellow"}


def terminal_table(comparison: ComparisonLike) -> Table:
    """The summary for a terminal of 100 columns, with parameters below the name.

    In narrower terminals rich cuts the last columns.

    Parameters
    ----------
    comparison : Comparison

    Returns
    -------
    rich.table.Table
    """
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("formulation", overflow="fold", min_width=15)
    for name in _HEADS[1:]:
        numeric = name in ("accuracy", "objective", "SVs", "seconds")
        table.add_column(name, justify="right" if numeric else "left", no_wrap=True)
    for row in records_of(comparison.summary):
        claim = claim_text(row)
        table.add_row(
            _lines(row["formulation"], chosen_text(row)), Text(row["solver"]),
            accuracy_text(row), number_text(row["objective"], ".4g"),
            Text(claim, _TERMINAL_STYLES.get(claim, "red")),
            "\n".join(part for part in gap_text(row) if part), number_text(row["support"], ".4g"),
            number_text(row["seconds"], ".2g"),
        )  # fmt: skip
    return table


def _lines(formulation: str, chosen: str) -> Any:
    from rich.text import Text

    name, _, rest = formulation.partition("(")
    parameters = "\n".join(part for part in (rest.removesuffix(")"), chosen) if part)
    return Text(name).append(f"\n{parameters}" if parameters else "", "dim")
