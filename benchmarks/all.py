"""Every benchmark at short settings; run `python benchmarks/all.py`.

Each module of this folder with a function `ratios` is run in a process of its own. A ratio is the
time (or the gap) of a named peer divided by ours in the same run, so that larger is better and a
slow machine is slow for both; no absolute time is kept. `exponents`, where a module has them, are
the powers of n with which seconds grow, so that smaller is better.

A line with the commit is appended to `history.jsonl`, and `history.svg` shows all lines. A ratio
that is 20 % below the last one of the same settings, or an exponent that is 20 % above it, is
measured once more; if the better of both is still as bad, it is printed in red, and the exit status
is 1. It is also 1 if a benchmark fails.

    python benchmarks/all.py [--full] [--only NAME ...] [--dry-run]
"""

from __future__ import annotations

import argparse
import ast
import importlib
import json
import multiprocessing
import platform
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

FOLDER = Path(__file__).parent
HISTORY, PICTURE = FOLDER / "history.jsonl", FOLDER / "history.svg"

MAX_LOSS = 0.2
"""Largest share of a ratio that may be lost from one line to the next."""

KINDS = ("ratios", "exponents")

Numbers = dict[str, dict[str, float]]
"""Ratios and exponents by kind and name of the row."""


def benchmarks() -> list[str]:
    """The modules that define `ratios` or `exponents`."""
    found = []
    for path in sorted(FOLDER.glob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names = {each.name for each in tree.body if isinstance(each, ast.FunctionDef)}
        if path != Path(__file__) and names & set(KINDS):
            found.append(path.stem)
    return found


def rows(name: str, full: bool) -> Numbers:
    """What one benchmark measures, in the process that calls this."""
    sys.path.insert(0, str(FOLDER))
    module = importlib.import_module(name)
    return {
        kind: {row: float(number) for row, number in getattr(module, kind)(full).items()}
        for kind in KINDS
        if hasattr(module, kind)
    }


def measured(name: str, full: bool) -> Numbers:
    """What one benchmark measures in a new process, which may crash."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, context) as pool:
        return pool.submit(rows, name, full).result()


def is_worse(kind: str, now: float, before: float | None) -> bool:
    """Whether a number has lost more than `MAX_LOSS`."""
    if before is None:
        return False
    return now < (1.0 - MAX_LOSS) * before if kind == "ratios" else now > (1.0 + MAX_LOSS) * before


def better(kind: str, first: float, second: float) -> float:
    """The better of two measurements of a number."""
    return max(first, second) if kind == "ratios" else min(first, second)


def history() -> list[dict[str, Any]]:
    """All lines, oldest first."""
    text = HISTORY.read_text(encoding="utf-8") if HISTORY.exists() else ""
    return [json.loads(line) for line in text.splitlines() if line.strip()]


def last_numbers(lines: list[dict[str, Any]], name: str, full: bool) -> Numbers:
    """The last number of each row of a benchmark at these settings."""
    found: Numbers = {kind: {} for kind in KINDS}
    for line in lines:
        if line["full"] == full:
            for kind, numbers in line["benchmarks"].get(name, {}).items():
                found[kind].update(numbers)
    return found


def git(*arguments: str) -> str:
    """The answer of git about this checkout, or nothing where it has none."""
    answer = subprocess.run(
        ["git", *arguments], cwd=FOLDER, capture_output=True, text=True, check=False
    )
    return answer.stdout.strip()


def head(full: bool) -> dict[str, Any]:
    """What a line says beside its numbers."""
    return {
        "commit": git("rev-parse", "--short", "HEAD"),
        "changed": bool(git("status", "--porcelain", "--", "../indefinite_opt", ".")),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": f"{platform.system()} {platform.machine()}, {multiprocessing.cpu_count()} cores",
        "full": full,
    }


def compared(name: str, full: bool, before: Numbers, console: Console) -> tuple[Numbers, int]:
    """The numbers of one benchmark, printed, and how many have fallen."""

    def fallen(numbers: Numbers) -> list[tuple[str, str]]:
        return [
            (kind, row)
            for kind, found in numbers.items()
            for row, number in found.items()
            if is_worse(kind, number, before[kind].get(row))
        ]

    began = time.perf_counter()
    numbers = measured(name, full)
    if fallen(numbers):
        again = measured(name, full)
        for kind, found in numbers.items():
            for row in found:
                found[row] = better(kind, found[row], again[kind].get(row, found[row]))
    bad = fallen(numbers)
    table = Table(title=f"{name}, {time.perf_counter() - began:.0f} s", title_justify="left")
    table.add_column("what")
    for title in ("now", "before"):
        table.add_column(title, justify="right")
    for kind, found in numbers.items():
        for row, number in found.items():
            old = before[kind].get(row)
            style = "bold red" if (kind, row) in bad else ""
            title = row if kind == "ratios" else f"exponent of n: {row}"
            cells = (title, f"{number:.3g}", "" if old is None else f"{old:.3g}")
            table.add_row(*(Text(cell, style=style) for cell in cells))
    console.print(table)
    return numbers, len(bad)


def series(
    lines: list[dict[str, Any]], name: str, kind: str
) -> Iterator[tuple[str, list[int], list[float]]]:
    """The numbers of each row of a benchmark, with the numbers of their lines."""
    found: dict[str, tuple[list[int], list[float]]] = {}
    for k, line in enumerate(lines):
        for row, number in line["benchmarks"].get(name, {}).get(kind, {}).items():
            places, numbers = found.setdefault(row, ([], []))
            places.append(k)
            numbers.append(number)
    for row, (places, numbers) in found.items():
        yield row, places, numbers


def draw(lines: list[dict[str, Any]]) -> None:
    """A panel for each benchmark and kind, a curve for each row, a place for each commit."""
    from matplotlib.figure import Figure

    panels = [
        (name, kind, curves)
        for name in sorted({name for line in lines for name in line["benchmarks"]})
        for kind in KINDS
        if (curves := list(series(lines, name, kind)))
    ]
    heights = [max(1.6, 0.5 + 0.16 * len(curves)) for _, _, curves in panels]
    figure = Figure(figsize=(9.0, sum(heights) + 0.5 * len(panels)), layout="constrained")
    axes = figure.subplots(len(panels), 1, squeeze=False, height_ratios=heights)[:, 0]
    labels = [line["commit"] + ("*" if line["changed"] else "") for line in lines]
    for axis, (name, kind, curves) in zip(axes, panels, strict=True):
        for k, (row, places, numbers) in enumerate(curves):
            axis.plot(
                places,
                numbers,
                marker="os^Dvx"[k // 10 % 6],
                markersize=3.5,
                linewidth=1,
                label=row,
            )
        if kind == "ratios":
            axis.set_yscale("log")
            for side in (axis.yaxis.set_major_formatter, axis.yaxis.set_minor_formatter):
                side("{x:g}")
            axis.axhline(1.0, color="0.6", linewidth=0.8)
        axis.set_title(f"{name}: {kind}", loc="left", fontsize=10)
        axis.set_xticks(range(len(lines)), labels, fontsize=7, rotation=30)
        axis.set_xlim(-0.3, max(len(lines) - 0.7, 0.3))
        axis.legend(
            loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=6.5, frameon=False, ncols=1
        )
    figure.savefig(PICTURE)


def main() -> int:
    """Run, print, keep and draw; 1 if something has fallen or failed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = benchmarks()
    parser.add_argument("--full", action="store_true", help="the sizes of the claims; hours")
    parser.add_argument("--only", nargs="+", choices=names, default=names, metavar="NAME")
    parser.add_argument("--dry-run", action="store_true", help="write neither line nor picture")
    options = parser.parse_args()
    console = Console()
    lines, line, bad = history(), head(options.full), 0
    line["benchmarks"] = {}
    try:
        for name in options.only:
            try:
                before = last_numbers(lines, name, options.full)
                numbers, fallen = compared(name, options.full, before, console)
            except Exception as error:
                console.print(Text(f"{name}: {type(error).__name__}: {error}", style="bold red"))
                bad += 1
            else:
                line["benchmarks"][name] = numbers
                bad += fallen
    finally:
        if line["benchmarks"] and not options.dry_run:
            with HISTORY.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
            draw([*lines, line])
            console.print(f"\n{HISTORY} has a new line, and {PICTURE} shows all.")
    if bad:
        console.print(Text(f"{bad} worse than before by {MAX_LOSS:.0%}, or failed.", "bold red"))
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
