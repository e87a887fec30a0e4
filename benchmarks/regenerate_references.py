"""Compute the reference library anew: `python benchmarks/regenerate_references.py FOLDER`.

The folder of the package is `indefinite_opt/studies/reference_library/data`. Each row is written as
soon as it is known. A best-known point in the folder is kept unless a better one is found, and
brackets are always recomputed, so that every row comes from one version of this package. With
`--missing` rows that the table has are left as they are, so that an interrupted run can go on.
"""

from __future__ import annotations

import argparse
import csv
import dataclasses
import datetime
import io
import json
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np
from reference_instances import LIBRARY, instances

import indefinite_opt as iopt
from indefinite_opt.foundation import Array, checks, writing
from indefinite_opt.studies.reference_library import (
    Digest,
    FalseCertificate,
    Instance,
    Reference,
)
from indefinite_opt.studies.reference_library import library as references
from indefinite_opt.workflow import bound, solve

CLOSED_FORM, UNPROVED = "closed form", "nothing proved"
"""Entries of the table in place of the method of `bound`."""


def computed(
    instance: Instance, before: Reference | None, time_limit: float, gap: float
) -> Reference:
    """The row of an instance; `FalseCertificate` if a point is outside a bracket or closed form.

    The bracket takes at most the time limit, in seconds, after the search for points, and stops at
    the relative gap. A row from `before` lends its point.
    """
    problem, formulation = instance.problem(), instance.formulation
    qp = instance.program(problem)
    sense = "max" if qp.sense < 0 else "min"
    # 25 times the work of the default of this solver.
    searched = solve(
        problem, formulation, solver="multistart(starts=50, budget=1000)", seed=instance.seed
    )
    # For an objective below 1 the gap of `bound` is relative to 1, that of the table is not.
    scaled = gap * min(1.0, abs(searched.objective))
    bracket = bound(problem, formulation, time_limit=time_limit, gap=scaled)
    candidates = [searched.values, bracket.values]
    if before is not None and [*before.values] == [qp.variable] and before.n == qp.n:
        candidates.append(before.values)
    x = min((references.feasible(qp, values) for values in candidates), key=qp.value)
    best = qp.declared(qp.value(x))

    proofs = []
    exact = instance.closed_form(problem)
    if exact is not None:
        proofs.append((exact, CLOSED_FORM))
        if abs(best - exact) <= references.ROUNDING * abs(exact):
            best = exact
    if bracket.rigorous:
        proofs.append((float(bracket.upper if sense == "max" else bracket.lower), bracket.method))
    for attained in (best, best if exact is None else exact):
        for limit, method in proofs:
            if references.better(sense, attained, limit) > references.ROUNDING * abs(attained):
                raise FalseCertificate(
                    f"{instance.name}: the objective {attained!r} ({sense}) is attained, and lies "
                    f"beyond the limit {limit!r} of {method}."
                )
    limit, method = proofs[0] if proofs else (np.inf if sense == "max" else -np.inf, UNPROVED)
    # Rounding may have moved the point past the limit, by less than what was refused above.
    limit = max(limit, best) if sense == "max" else min(limit, best)
    return Reference(
        **dataclasses.asdict(instance),
        sense=sense,
        convex=qp.is_convex,
        best=best,
        lower=best if sense == "max" else limit,
        upper=limit if sense == "max" else best,
        method=method,
        date=datetime.date.today().isoformat(),
        version=iopt.__version__,
        digest=Digest.of_problem(problem),
        values=qp.values(x),
    )


def write(entries: Iterable[Reference], folder: str | Path) -> Path:
    """Write table and points to a folder, and return the path of the table."""
    entries = list(entries)
    table = io.StringIO()
    table.write(
        "# Reference library of indefinite_opt: quadratic programs with certified brackets.\n"
        f"# format {references.FORMAT}\n"
        f"# library {LIBRARY}\n"
        f'# pandas.read_csv("{references.TABLE}", comment="#")\n'
        "# The meaning of the columns, and how to build each instance, are in README.md.\n"
    )
    rows = csv.DictWriter(table, [*references.cells(entries[0])], lineterminator="\n")
    rows.writeheader()
    rows.writerows(
        {**references.cells(entry), "gap": f"{entry.relative_gap:.1e}"} for entry in entries
    )
    points = [
        f"{json.dumps(entry.name)}: {json.dumps({k: _written(v) for k, v in entry.values.items()})}"
        for entry in entries
    ]
    home = Path(folder)
    with writing("folder", home, "folder"):
        home.mkdir(parents=True, exist_ok=True)
        (home / references.POINTS).write_text(
            "{\n" + ",\n".join(points) + "\n}\n", encoding="utf-8"
        )
        (home / references.TABLE).write_text(table.getvalue(), encoding="utf-8")
    return home / references.TABLE


def _written(x: Array) -> list[int | float]:
    """The entries of a point; most of those at a vertex are short integers."""
    return [int(v) if v.is_integer() else v for v in x.tolist()]


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, and write the table after each row, so that no row is lost."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="where the table is, or is to be")
    parser.add_argument("patterns", nargs="*", help="names to compute: 'sigmoid-*'")
    parser.add_argument("--time-limit", type=float, default=60.0, help="seconds for each bracket")
    parser.add_argument(
        "--gap", type=float, default=references.TARGET_GAP, help="relative gap to reach"
    )
    parser.add_argument("--missing", action="store_true", help="only rows that the table lacks")
    options = parser.parse_args(arguments)
    known = {instance.name: instance for instance in instances()}
    wanted: list[str] = []
    for pattern in options.patterns or ["*"]:
        # What fits no name is refused as a name.
        wanted += [name for name in known if fnmatchcase(name, pattern)] or [pattern]
    for name in wanted:
        checks.choice("reference", name, known)
    there = (options.folder / references.TABLE).exists()
    rows = {row.name: row for row in references.references(options.folder)} if there else {}
    for name in wanted:
        if options.missing and name in rows:
            continue
        row = computed(known[name], rows.get(name), options.time_limit, options.gap)
        rows[name] = row
        write([rows[each] for each in known if each in rows], options.folder)
        print(f"{name}: {row.best:.10g}, gap {row.relative_gap:.1e}, {row.method}", flush=True)


if __name__ == "__main__":
    main()
