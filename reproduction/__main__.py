"""The command `reproduce`: tables and figures of the papers beside our numbers."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from rich import box
from rich.table import Table
from rich.text import Text
from typer import Argument, Option

from indefinite_opt.command_line.options import Cluster, Json
from indefinite_opt.command_line.terminal import console, fields, print_json, progress, say
from indefinite_opt.errors import ParameterError
from indefinite_opt.foundation import writing
from indefinite_opt.studies import papers

_COLORS = {
    "close": "green", "reproduced": "cyan", "outside": "yellow", "far": "red",
    "stand-in": "magenta",
}  # fmt: skip
"""The colours of the grades of entries on the terminal."""


def reproduce(
    name: Annotated[
        str | None, Argument(help="A study of `--list`, a pattern such as 'lin-*', or all.")
    ] = None,
    list_: Annotated[
        bool, Option("--list", help="List the studies with the data they need and their time.")
    ] = False,
    quick: Annotated[
        bool, Option("--quick", help="Run a part of each study, all together in minutes.")
    ] = False,
    long: Annotated[
        bool, Option("--long", help="Run those experiments, too, that take hours.")
    ] = False,
    store: Annotated[
        Path | None,
        Option(help="File of finished cells, by default cells.jsonl in the output folder."),
    ] = None,
    jobs: Annotated[int, Option(help="Number of processes that share the cells.")] = 1,
    output: Annotated[Path, Option(help="Folder for the pages.")] = Path("reproduction"),
    cluster: Cluster = None,
    as_json: Json = False,
) -> None:
    """Reproduce tables and figures of the papers.

    Each finished cell is stored, so that a run that was ended in any way continues where it was.
    The output folder has a page for each study and an index, and Markdown tables.
    """
    if list_:
        _list(papers.find(name or "all"), as_json)
        return
    if name is None:
        raise ParameterError("name", "a study", "none", "See `indefinite-opt reproduce --list`.")
    chosen = papers.find(name)
    with writing("output", output, "folder"):
        output.mkdir(parents=True, exist_ok=True)
    found = []
    for study_name, study in chosen.items():
        with progress(study_name) as advance:
            made = papers.reproduce(
                study_name, study, quick=quick, long=long, store=store or output / "cells.jsonl",
                n_jobs=jobs, cluster=cluster,
                progress=lambda done, total, title: advance(title, done, total),
            )  # fmt: skip
        page = papers.write_study(made, output)
        index = papers.write_index(output)
        found.append(made)
        if not as_json:
            _report(made, page)
    if as_json:
        print_json({made.name: _fields(made) for made in found})
    else:
        say(f"Index: {index}")


def _list(studies: dict[str, papers.PaperStudy], as_json: bool) -> None:
    if as_json:
        print_json(
            {
                name: fields(study, "title data minutes quick_minutes long")
                for name, study in studies.items()
            }
        )  # fmt: skip
        return
    table = Table(box=None)
    table.add_column("name", no_wrap=True)
    table.add_column("--jobs 2 (quick)", no_wrap=True, justify="right")
    table.add_column("shows; data", overflow="fold")
    for name, study in studies.items():
        times = [papers.duration(60.0 * t) for t in (study.minutes, study.quick_minutes)]
        data = ", ".join(study.data) or "drawn at random"
        hours = f"; takes hours with --long: {', '.join(study.long)}" if study.long else ""
        table.add_row(name, f"{times[0]} ({times[1]})", f"{study.title}; {data}{hours}")
    console.print(table)


def _report(made: papers.Reproduction, page: Path) -> None:
    say(f"{made.study.heading}: {made.study.title}", style="bold")
    if made.study.numbers:
        notes, _ = made.footnotes
        for table in _tables(made):
            console.print(table)
        for number, note in enumerate(notes, 1):
            say(f"({number}) {note}")
        if made.tally.published:
            say(made.tally)
    for sentence, verdict in made.verdicts.items():
        color = "green" if verdict.holds else "yellow"
        say(f"{'yes' if verdict.holds else 'no '}  {sentence}", style=color)
        say(f"     {verdict.measured}", style="dim")
    for name, reason in made.absent.items():
        say(f"{name} is left out: {reason}", style="yellow")
    if made.failed:
        say(f"{made.failed} cells failed; the page shows why.", style="yellow")
    say(f"{papers.duration(made.seconds)} of computing time. Page: {page}")


def _tables(made: papers.Reproduction) -> Iterator[Table]:
    """Our numbers above those of the paper, in colour where they differ; as wide as fits."""
    marks = made.footnotes[1]

    def cell(one: papers.Compared | None) -> Text:
        if one is None:
            return Text()
        ours = Text(str(one.ours or "–"), _COLORS.get(one.grade, ""))
        mark = f" ({marks[one]})" if one in marks else ""
        return ours.append(mark, "dim").append(f"\n{one.fact}", "dim")

    columns = made.columns
    lines = {row: list(map(cell, entries)) for row, entries in made.lines.items()}
    widths = [  # with three characters between two columns
        3 + max(len(line) for text in (head, *cells) for line in str(text).splitlines())
        for head, *cells in zip(columns, *lines.values(), strict=True)
    ]
    left, first = console.width - max(map(len, lines), default=0), 0
    while first < len(columns):
        fitting = sum(total <= left for total in itertools.accumulate(widths[first:]))
        shown = slice(first, first + max(1, fitting))
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title="ours, and below the paper's")
        table.add_column("", no_wrap=True)
        for column in columns[shown]:
            table.add_column(column, justify="right", no_wrap=True)
        for row, cells in lines.items():
            table.add_row(row, *cells[shown])
        yield table
        first = shown.stop


def _fields(made: papers.Reproduction) -> dict[str, object]:
    return {
        "quick": made.quick,
        "seconds": made.seconds,
        "published": made.tally.published,
        "at_hand": made.tally.at_hand,
        "within_one_deviation": made.tally.close,
        "within_two_deviations": made.tally.reproduced,
        "explained": made.tally.explained,
        "missing_data": made.absent,
        "failed": made.failed,
        "statements": [
            {"paper": sentence, "here": verdict.measured, "holds": verdict.holds}
            for sentence, verdict in made.verdicts.items()
        ],
        "numbers": [
            {
                **fields(one, "row column distance"),
                "paper": one.fact.value, "paper_spread": one.fact.spread,
                "ours": one.ours and one.ours.value, "ours_spread": one.ours and one.ours.spread,
            }
            for one in made.compared.values()
        ],
    }  # fmt: skip
