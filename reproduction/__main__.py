"""The tables and figures of the papers beside our numbers: `python -m reproduction --help`."""

from __future__ import annotations

import argparse
import json
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

from rich.console import Console

from indefinite_opt.errors import IndefiniteOptError, ParameterError
from reproduction.comparison import Reproduction, reproduce
from reproduction.declaration import PaperStudy, find
from reproduction.pages import duration, markdown, write_index, write_study


class Interrupts:
    """Notes that Ctrl-C was pressed, as a solver takes it for the end of its own search."""

    came = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        self.came = True
        signal.default_int_handler(number, frame)

    def check(self) -> None:
        """Raise what a solver has kept for itself."""
        if self.came:
            raise KeyboardInterrupt


def parser() -> argparse.ArgumentParser:
    """The arguments of the command."""
    made = argparse.ArgumentParser(
        prog="python -m reproduction",
        description="Reproduce tables and figures of the papers. Each finished cell is stored, so "
        "that a run that was ended in any way continues where it was. The output folder has a page "
        "for each study and an index, and Markdown tables, which are printed, too.",
        epilog="Example: python -m reproduction guo-schuurmans-table-2 --quick",
    )
    add = made.add_argument
    add("name", nargs="?", help="a study of --list, a pattern such as 'lin-*', or all")
    add("--list", action="store_true", help="list the studies with their data and times")
    add("--quick", action="store_true", help="run a part of each study, all together in minutes")
    add("--long", action="store_true", help="run those experiments, too, that take hours")
    add("--jobs", type=int, default=1, help="processes that share the cells; 1 by default")
    add("--cluster", help="address of a Dask scheduler, whose workers were started in this folder")
    add("--store", type=Path, help="file of finished cells; cells.jsonl in the output folder")
    add("--output", type=Path, default=Path("reproduced"), help="folder of the pages; reproduced")
    add("--json", action="store_true", help="print JSON instead of text")
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; 2 after a known error, 1 if a file cannot be written, 130 after Ctrl-C."""
    given, interrupts = parser().parse_args(arguments), Interrupts()
    usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if usual:
        signal.signal(signal.SIGINT, interrupts)
    try:
        if given.list:
            show_list(find(given.name or "all"), given.json)
        else:
            run(given, interrupts.check)
    except (IndefiniteOptError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2 if isinstance(error, IndefiniteOptError) else 1
    except KeyboardInterrupt:
        print("interrupted; finished cells are kept", file=sys.stderr)
        return 130
    finally:
        if usual:
            signal.signal(signal.SIGINT, signal.default_int_handler)
    return 0


def show_list(studies: dict[str, PaperStudy], as_json: bool) -> None:
    """Print the studies with what they show, their data and their times."""
    fields = ("title", "data", "minutes", "quick_minutes", "long")
    if as_json:
        print_json({name: {k: getattr(one, k) for k in fields} for name, one in studies.items()})
        return
    for name, study in studies.items():
        times = [duration(60.0 * minutes) for minutes in (study.minutes, study.quick_minutes)]
        data = ", ".join(study.data) or "drawn at random"
        hours = f"; takes hours with --long: {', '.join(study.long)}" if study.long else ""
        print(f"{name:24}{times[0]:>8} ({times[1]}, quick)  {study.title}; {data}{hours}")


def run(given: argparse.Namespace, check: Callable[[], None]) -> None:
    """Run the studies that were asked for; `check` ends the run after Ctrl-C."""
    if given.name is None:
        raise ParameterError("name", "a study", "none", "See `python -m reproduction --list`.")
    chosen, found = find(given.name), {}
    given.output.mkdir(parents=True, exist_ok=True)
    with Console(stderr=True).status("") as shown:

        def advance(done: int, total: int, title: str) -> None:
            check()
            shown.update(f"{title}: {done} of {total} cells")

        for name, study in chosen.items():
            made = reproduce(
                name, study, quick=given.quick, long=given.long,
                store=given.store or given.output / "cells.jsonl",
                n_jobs=given.jobs, cluster=given.cluster, progress=advance,
            )  # fmt: skip
            page, index = write_study(made, given.output), write_index(given.output)
            found[name] = summary(made)
            if not given.json:
                print(markdown(made))
                for lost, reason in made.absent.items():
                    print(f"{lost} is left out: {reason}")
                if made.failed:
                    print(f"{made.failed} cells failed; the page shows why.")
                print(f"Page: {page}\n")
    if given.json:
        print_json(found)
    else:
        print(f"Index: {index}")


def print_json(value: Any) -> None:
    """Print standard JSON."""
    print(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False))


def summary(made: Reproduction) -> dict[str, object]:
    """What was run and what came of it, for JSON."""
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
                "row": one.row, "column": one.column,
                "distance": one.distance if one.ours else None,
                "paper": one.fact.value, "paper_spread": one.fact.spread,
                "ours": one.ours and one.ours.value, "ours_spread": one.ours and one.ours.spread,
            }
            for one in made.compared.values()
        ],
    }  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
