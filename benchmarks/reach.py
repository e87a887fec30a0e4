"""How large a program may be for its global optimum to be proved; run `python benchmarks/reach.py`.

For each size and kind of program stands how many brackets close within a minute, and in what time,
on at most two threads: the box QPs of the BoxQP library and larger ones by its published rule,
standard QPs of graphs and random ones, programs with rows as in Chen & Burer, and duals of support
vector machines with kernels of two sources. "drawn" are families of the depot,
C = 1 and 10; "real" are similarities and distances of the folder that INDEFINITE_OPT_DATA names and
of the package, with C = 0.1, 1 and 10. Distances are divided by their median, and the kernel is
-d²/2. Box QPs and programs with rows are closed at a relative gap of 1e-6, duals at 1e-4.

Beside them stand SCIP and Gurobi with two threads where they are installed and take the program,
for the first programs of each row (`--peer-programs`) and at most so many seconds
(`--peer-seconds`); SCIP uses one thread. The seconds of a program that stays open are the limit.

`--resume FILE` keeps every finished bracket as a line of JSON, and reads it from there next time.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from global_bracket import Bracketed, Case, Journal, head, kernels, measured, middle, named, say
from global_peers import PEERS, PeerBracket, ProgramKind
from threadpoolctl import threadpool_limits

import indefinite_opt as iopt

THREADS = 2

GAPS = {"programs": 1e-6, "duals": 1e-4}

BOUNDS = (0.1, 1.0, 10.0)

TABLES = ("heart", "ionosphere", "breast")
"""Tables of real numbers, with the sigmoid kernel tanh(⟨x, z⟩/d - 1) of standardised features."""


@dataclass(frozen=True)
class Real(Case):
    """The dual of a support vector machine on data that nobody here has drawn."""

    data: Any = None
    C: float = 1.0

    @property
    def problem(self) -> iopt.KernelProblem:
        return self.data

    @property
    def formulation(self) -> iopt.Formulation:
        return iopt.SVMDual(C=self.C)

    @property
    def program(self) -> ProgramKind:
        return self.formulation.program(self.problem)


@dataclass(frozen=True)
class Row:
    """Programs of one kind and size."""

    kind: str
    size: str
    cases: Sequence[Case]
    gap: float = GAPS["programs"]


def real_problems() -> Iterator[tuple[str, iopt.KernelProblem]]:
    """The problems of two classes in the folder of data, and those of the package."""
    yield "words", iopt.KernelProblem.from_dataset(iopt.datasets.load("words"), form="linear")
    folder = Path(os.environ.get("INDEFINITE_OPT_DATA", ""))
    for path in sorted((folder / "field").glob("*.npz")):
        with np.load(path, allow_pickle=False) as file:
            data = dict(file)
        if np.unique(data["y"]).size != 2:
            continue
        if "S" in data:
            yield path.stem, iopt.KernelProblem(data["S"], data["y"], symmetrize=True)
        else:
            D = data["D"] / np.median(data["D"][data["D"] > 0.0])
            yield path.stem, iopt.KernelProblem.from_distances(D, data["y"], form="linear")
    for name in TABLES:
        try:
            data = iopt.datasets.load(name)
        except iopt.errors.DataError as error:
            say(f"{name} is left out: {error}")
            continue
        d = data.X.shape[1]
        kernel = f"sigmoid(a={1.0 / d}, r=-1)"
        yield name, iopt.KernelProblem.from_dataset(data, kernel, scaling="standard")


def rows() -> Iterator[Row]:
    """All rows of the table."""
    for title, family, sizes in (
        ("box QP, BoxQP library", "boxqp", ((20, 60), (70, 100), (125, 125))),
        ("box QP, same rule", "boxqp", ((150, 150), (200, 200))),
        ("standard QP, cliques of graphs", "clique", ((16, 50), (56, 126))),
        ("standard QP, random", "stqp", ((30, 50), (70, 100))),
        ("rows as in Chen & Burer", "rowqp", ((20, 30), (40, 50))),
    ):
        for least, most in sizes:
            size = f"{least}" if least == most else f"{least} to {most}"
            yield Row(title, size, named([family], range(least, most + 1)))
    for n in (50, 100, 200):
        yield Row("SVM dual, drawn kernels", f"{n}", kernels(n), GAPS["duals"])
    for name, problem in sorted(real_problems(), key=lambda each: each[1].n):
        share = f"{100.0 * problem.negative_share:.2g} % negative"
        cases = [Real(f"{name} C={C:g}", problem.n, data=problem, C=C) for C in BOUNDS]
        yield Row(f"SVM dual, {name}, {share}", f"{problem.n}", cases, GAPS["duals"])


def peer_bracket(peer: str, case: Case, limit: float) -> PeerBracket:
    """What a peer says of a program."""
    threads = {"threads": THREADS} if peer == "Gurobi" else {}
    return PEERS[peer](case.program, limit, **threads)


def cells(row: Row, journal: Journal, limit: float) -> list[str]:
    """How many of the brackets of a row close, and in what time."""
    found = [
        journal.once(
            Bracketed, f"{case.name} {limit:g} s {row.gap:g}",
            partial(measured, case, limit, row.gap),
        )
        for case in row.cases
    ]  # fmt: skip
    closed = sum(each.gap <= row.gap for each in found)
    worst = max(each.gap for each in found)
    return [
        f"{closed} of {len(found)}", middle(min(each.seconds, limit) for each in found),
        f"{worst:.0e}" if worst > row.gap else "",
    ]  # fmt: skip


def peer_cells(
    row: Row, peer: str, journal: Journal, limit: float, most: int, notes: set[str]
) -> list[str]:
    """The same of a peer, on the first programs of the row."""
    found = []
    for case in row.cases[:most]:
        key = f"{peer} {case.name} {limit:g} s"
        answer = journal.get(PeerBracket, key)
        if answer is None:
            answer = peer_bracket(peer, case, limit)
            journal.put(key, answer)
        if answer.note and np.isinf(answer.gap):
            notes.add(f"{peer}: {answer.note}")
        else:
            found.append(answer)
    # A bound within the tolerance of a peer may be on the wrong side of its value.
    closed = [each.gap <= 2.0 * row.gap for each in found]
    times = [each.seconds if done else limit for each, done in zip(found, closed, strict=True)]
    return [f"{sum(closed)} of {len(found)}", middle(times)] if found else ["–", "–"]


def main() -> None:
    """Print the table, a row as soon as it is finished."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help="kinds that contain this text, such as 'box QP'")
    parser.add_argument("--seconds", type=float, default=60.0, help="of a bracket, at most")
    parser.add_argument("--peer-seconds", type=float, default=60.0)
    parser.add_argument("--peer-programs", type=int, default=2, help="of each row")
    parser.add_argument("--resume", type=Path, help="journal of JSON lines to go on from")
    options = parser.parse_args()
    journal, notes = Journal(options.resume), set[str]()
    say(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the start.")
    columns = "kind | variables | closed | s: median, most | worst gap"
    for peer in PEERS:
        columns += f" | {peer} | s"
    head(f"Proved within {options.seconds:g} s", columns)
    with threadpool_limits(THREADS):
        iopt.bound(iopt.QuadraticProgram.read("boxqp-20-100-1"), time_limit=10.0)  # imports
        for row in (each for each in rows() if options.only in each.kind):
            line = [row.kind, row.size, *cells(row, journal, options.seconds)]
            for peer in PEERS:
                most = options.peer_programs
                line += peer_cells(row, peer, journal, options.peer_seconds, most, notes)
            say(f"| {' | '.join(line)} |")
    for note in sorted(notes):
        say(note)


if __name__ == "__main__":
    main()
