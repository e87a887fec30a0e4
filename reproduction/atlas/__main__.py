"""Run the atlas, or make its report from its table: `python -m reproduction.atlas --help`."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from indefinite_opt.errors import DataError, IndefiniteOptError
from indefinite_opt.studies import Data
from reproduction.atlas import page
from reproduction.atlas.pairs import Pair, find, pairs
from reproduction.atlas.protocol import FULL, QUICK, QUICK_PAIRS, Row, run
from reproduction.atlas.table import CELLS, NOTE, read, write

PAGE = Path("docs/reproduction/atlas.md")


def parser() -> argparse.ArgumentParser:
    """The arguments of the command."""
    made = argparse.ArgumentParser(
        prog="python -m reproduction.atlas",
        description="Run the formulations on many real similarities, with proofs. Each finished "
        "cell is stored, so that a run that was ended in any way continues where it was. A run "
        "ends with the table of its cells and its page in the store.",
    )
    add = made.add_argument
    add("--list", action="store_true", help="list the pairs of data and similarity")
    add("--quick", action="store_true", help="run a handful of pairs and methods, in two minutes")
    add("--only", metavar="NAME", default="*", help="pairs whose names fit, such as 'gunpoint-*'")
    add("--seeds", type=int, default=1, help="number of seeds of the folds; 1 by default")
    add("--jobs", type=int, default=2, help="processes that share matrices and cells; 2 by default")
    add("--cluster", help="address of a Dask scheduler, whose workers were started in this folder")
    add("--store", type=Path, default=Path("reproduced/atlas"), help="folder of cells and matrices")
    add(
        "--keep",
        action="store_true",
        help=f"write the table to {CELLS.name} in the repository, too",
    )
    add("--report", action="store_true", help=f"write {PAGE} from that table")
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; 2 after a known error, 1 if a file cannot be written, 130 after Ctrl-C."""
    given = parser().parse_args(arguments)
    try:
        if given.list:
            for pair in pairs().values():
                sizes = f"{pair.n} objects, {len(pair.classes)} classes"
                print(f"{pair.name:28}{sizes:26}{pair.similarity.meaning}")
        elif given.report:
            table = read() if CELLS.is_file() else None
            note = NOTE.read_text(encoding="utf-8").strip() if NOTE.is_file() else ""
            for path in page.write(table, FULL, PAGE, note):
                print(path)
        else:
            execute(given)
    except (IndefiniteOptError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2 if isinstance(error, IndefiniteOptError) else 1
    except KeyboardInterrupt:
        print("interrupted; finished cells are kept", file=sys.stderr)
        return 130
    return 0


def execute(given: argparse.Namespace) -> None:
    """Run the pairs that were asked for and are there, and write their table and page."""
    chosen, protocol = find(given.only), QUICK if given.quick else FULL
    if given.quick and given.only == "*":
        chosen = {name: chosen[name] for name in QUICK_PAIRS}
    data = at_hand(chosen, given.store / "matrices", given.jobs)
    if not data:
        raise DataError("pairs", "one whose data are there", "none", "See the reasons above.")
    given.store.mkdir(parents=True, exist_ok=True)
    began = time.perf_counter()
    with Console(stderr=True).status("") as shown:

        def advance(done: int, total: int, row: Row) -> None:
            what = row.get("data") or row.get("setting", "")
            shown.update(f"{done} of {total} cells, {what} {row.get('method', '')}")

        rows = run(
            data, protocol, range(given.seeds), given.store / "cells.jsonl", given.jobs,
            given.cluster, advance,
        )  # fmt: skip
    print(f"{len(rows)} rows of {len(data)} pairs in {time.perf_counter() - began:.0f} s")
    kept = write(rows, given.store / CELLS.name)
    print(f"Table: {kept}")
    if given.keep:
        CELLS.write_bytes(kept.read_bytes())
        NOTE.unlink(missing_ok=True)
    for path in page.write(read(kept), protocol, given.store / PAGE.name):
        print(f"Page: {path}")


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
