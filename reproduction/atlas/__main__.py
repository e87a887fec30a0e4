"""Run the atlas, or make its report from its table: `python -m reproduction.atlas --help`."""

from __future__ import annotations

import argparse
import itertools
import math
import shutil
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console

from indefinite_opt.errors import DataError, IndefiniteOptError
from indefinite_opt.studies import Data
from reproduction.atlas.pairs import Pair, find, pairs
from reproduction.atlas.protocol import (
    FULL,
    PILOT,
    QUICK,
    QUICK_PAIRS,
    Row,
    Unit,
    run,
    units,
)
from reproduction.atlas.table import KEPT, NOTE, read, write

PARTS = ("study", "proofs", "ends", "times")


class TimeIsOver(Exception):
    """The minutes of a run are over."""


def parser() -> argparse.ArgumentParser:
    """The arguments of the command."""
    made = argparse.ArgumentParser(
        prog="python -m reproduction.atlas",
        description="Run the formulations on many real similarities, with proofs. Each finished "
        "cell is stored, so that a run that was ended in any way continues where it was.",
    )
    add = made.add_argument
    add("--list", action="store_true", help="list the pairs of data and similarity")
    add("--quick", action="store_true", help="run a handful of pairs and methods, in two minutes")
    add("--pilot", action="store_true", help="run the wide grids by which the grids were fixed")
    add("--only", metavar="NAME", default="*", help="pairs whose names fit, such as 'gunpoint-*'")
    add("--part", choices=PARTS, action="append", help="run this part; by default all, in turn")
    add("--seeds", type=int, help="run the first of the seeds only; by default all three")
    add("--minutes", type=float, default=math.inf, help="stop then; the same command goes on")
    add("--jobs", type=int, default=2, help="processes that share matrices and cells; 2 by default")
    add("--cluster", help="address of a Dask scheduler, whose workers were started in this folder")
    add("--store", type=Path, default=Path("reproduced/atlas"), help="folder of cells and matrices")
    add("--rest", action="store_true", help="leave out what this repository has tables of")
    add("--keep", action="store_true", help="put the tables of the store into this repository")
    add("--report", action="store_true", help="write the paper, its page and figures from those")
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    2 after a known error, 1 if a file cannot be written, 130 after Ctrl-C, 75 if there was not
    enough time.
    """
    given = parser().parse_args(arguments)
    try:
        if given.list:
            for pair in pairs().values():
                sizes = f"{pair.n} objects, {len(pair.classes)} classes"
                print(f"{pair.name:28}{sizes:26}{pair.similarity.meaning}")
        if given.keep:
            KEPT.mkdir(exist_ok=True)
            for path in sorted((given.store / "parts").glob("*.csv.gz")):
                print(shutil.copy(path, KEPT))
        if given.report:
            from reproduction.atlas import page  # which needs matplotlib

            table = read(KEPT)
            note = NOTE.read_text(encoding="utf-8").strip() if NOTE.is_file() else ""
            for path in (*page.write(table, FULL, Path(), note), page.pdf(Path())):
                print(path or "no PDF: pandoc, xelatex and rsvg-convert make it")
        if not (given.list or given.keep or given.report):
            execute(given)
    except TimeIsOver:
        print("the minutes are over; the same command goes on", file=sys.stderr)
        return 75
    except (IndefiniteOptError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2 if isinstance(error, IndefiniteOptError) else 1
    except KeyboardInterrupt:
        print("interrupted; finished cells are kept", file=sys.stderr)
        return 130
    return 0


def execute(given: argparse.Namespace) -> None:
    """Run the pairs that were asked for and are there; each finished part is stored as a table."""
    end = time.monotonic() + 60.0 * given.minutes
    protocol = QUICK if given.quick else PILOT if given.pilot else FULL
    if given.seeds is not None:
        protocol = replace(protocol, seeds=protocol.seeds[: given.seeds])
    chosen = find(given.only)
    if given.quick and given.only == "*":
        chosen = {name: chosen[name] for name in QUICK_PAIRS}
    if given.pilot:
        chosen = {name: pair for name, pair in chosen.items() if pair.seen}
    data = at_hand(chosen, given.store / "matrices", given.jobs)
    if not data:
        raise DataError("pairs", "one whose data are there", "none", "See the reasons above.")
    # Only parts of the plan, with all its pairs, are kept in the repository.
    kind = "-quick" if given.quick else "-pilot" if given.pilot else ""
    finished = given.store / f"parts{kind}{'-only' * (given.only != '*')}"
    there = set(KEPT.glob("*")) if given.rest and finished.name == "parts" else set[Path]()
    for unit in itertools.chain(*(units(protocol, part) for part in given.part or PARTS)):
        if KEPT / f"{unit}.csv.gz" in there:
            continue
        name = f"{Unit('study', unit.seed, unit.fold)}.csv.gz"
        base = KEPT / name if KEPT / name in there else finished / name
        if unit.part in ("proofs", "ends") and not base.is_file():
            raise DataError("part", "the study before its proofs and ends", f"no {name}")
        studied: Any = read(base).to_dict("records") if base.is_file() else []
        with Console(stderr=True).status("") as shown:

            def advance(done: int, total: int, row: Row, unit: Unit = unit) -> None:
                what = row.get("data") or row.get("setting", "")
                shown.update(f"{unit}: {done} of {total} cells, {what} {row.get('method', '')}")
                if time.monotonic() > end:
                    raise TimeIsOver

            rows = run(
                unit, data, protocol, given.store / "cells.jsonl", studied, given.jobs,
                given.cluster, advance,
            )  # fmt: skip
        write(rows, finished / f"{unit}.csv.gz")
        print(f"{unit}: {len(rows)} rows of {len(data)} pairs", flush=True)


def at_hand(chosen: dict[str, Pair], folder: Path, jobs: int) -> dict[str, Data]:
    """The data of the pairs that are there; the others are named with the reason."""
    data = {}
    for name, pair in chosen.items():
        try:
            data[name] = pair.data(folder, jobs)
        except IndefiniteOptError as error:
            print(f"{name} is skipped: {error}", file=sys.stderr)
    return data


if __name__ == "__main__":
    sys.exit(main())
