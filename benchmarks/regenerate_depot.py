"""Compute the table of the depot anew: `python benchmarks/regenerate_depot.py TABLE [PATTERN ...]`.

The table of the package is `indefinite_opt/quadratic/instances/depot.csv.gz`. It is written after
each row, so that no row is lost. A best known point in the table is kept unless a better one is
found, and brackets are always recomputed, so that every row comes from one version of this package.
With `--missing` rows that the table has are left as they are, so that an interrupted run can go on.
"""

from __future__ import annotations

import argparse
import csv
import datetime
import gzip
import io
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np
from depot_names import names

import indefinite_opt as iopt
from indefinite_opt.foundation import Array, checks
from indefinite_opt.quadratic import QuadraticProgram
from indefinite_opt.quadratic.instances import depot

COLUMNS = (
    "name", "kind", "n", "status", "lower", "upper", "optimum", "negative", "tags", "source",
    "method", "date", "version", *depot.DIGEST, "x", "ray", "conflict",
)  # fmt: skip

CLOSED_FORM = "closed form"
"""Entry of the table in place of the method of a bracket."""

TARGETS = {"linear": 1e-9, "convex": 1e-9, "box": 1e-6, "rows": 1e-6}
"""Relative gaps from which on a bracket counts as open, by kind."""

SHORT = (1, 2, 3, 4, 5, 7, 10, 12, 64)
"""Denominators of numbers that are tried in place of those of a point."""

Row = dict[str, str]


class FalseProof(Exception):
    """A feasible point or a closed form lies outside a bracket: one of the two is wrong."""


def computed(name: str, before: Row | None, time_limit: float) -> Row:
    """The row of a name; a row from before lends its point.

    The bracket of a nonconvex program takes at most the time limit, in seconds, after the search
    for points.
    """
    arrays = depot.arrays(name)
    eigenvalues = np.linalg.eigvalsh(arrays["P"])
    least = -1e-10 * np.abs(eigenvalues).max(initial=0.0)
    negative = int(np.sum(eigenvalues < least))
    rows = bool(arrays["h"].size + arrays["b"].size)
    kind = ("rows" if rows else "box") if negative else "convex" if arrays["P"].any() else "linear"
    tags, source = depot.origin(name)
    row = dict.fromkeys(COLUMNS, "") | {
        "name": name, "kind": kind, "n": str(arrays["q"].size), "status": "optimal",
        "negative": str(negative), "tags": f"{tags}{' rows' * rows}", "source": source,
        "date": datetime.date.today().isoformat(), "version": iopt.__version__,
        **dict(zip(depot.DIGEST, map(written, depot.digest(arrays)), strict=True)),
    }  # fmt: skip
    qp = QuadraticProgram.read(name)
    if "ray" in arrays or "conflict" in arrays:
        return row | without_optimum(name, qp, arrays, row["tags"])
    points, lower, method = (
        convex(qp) if kind in ("linear", "convex") else nonconvex(qp, time_limit)
    )
    if before is not None and before["x"]:
        points.append(np.array(before["x"].split(), dtype=float))
    # The table has no row yet, but its points and objectives are those of a problem.
    problem = depot.Problem(row | {"lower": "-inf", "upper": "inf"})
    x = best(problem, points)
    return row | bracket(problem, x, lower, method, arrays.get("optimum"), TARGETS[kind])


def without_optimum(name: str, qp: QuadraticProgram, arrays: dict[str, Any], tags: str) -> Row:
    """The entries of a program without an optimum, whose ray or conflict is proved here."""
    kind = "ray" if "ray" in arrays else "conflict"
    given: Any = arrays[kind]
    if kind == "conflict":
        m = arrays["h"].size
        parts = {"inequalities": given[:m], "equalities": given[m:]}
        given = {rows: part for rows, part in parts.items() if part.size}
    found = iopt.verify(qp, {kind: given})
    if not found.proved:
        raise FalseProof(f"{name}: {found}")
    end, status = ("-inf", "unbounded") if kind == "ray" else ("inf", "infeasible")
    start = {"x": listed(arrays["point"])} if kind == "ray" else {}
    return {
        kind: listed(arrays[kind]), "lower": end, "upper": end, "status": status, "method": kind,
        "tags": f"{tags} {status}", **start,
    }  # fmt: skip


def convex(qp: QuadraticProgram) -> tuple[list[Array], float, str]:
    """Points, a proved lower bound and what proved it, of a linear or convex program."""
    found: list[tuple[Array, float]] = []
    for tol in (1e-9, 1e-12):
        result = iopt.solve(qp, tol=tol)
        found.append((result.values["x"], float(result.certificate.bound)))
    return [x for x, _ in found], max(lower for _, lower in found), "certificate"


def nonconvex(qp: QuadraticProgram, time_limit: float) -> tuple[list[Array], float, str]:
    """Points, a proved lower bound and what proved it, of any program."""
    searched = iopt.solve(qp, solver="multistart")
    # For an objective below 1 the gap of `bound` is relative to 1, that of the table is not.
    gap = 0.9 * TARGETS["rows"] * min(1.0, abs(searched.objective) or 1.0)
    found = iopt.bound(qp, time_limit=time_limit, gap=max(gap, 1e-12))
    lower = float(found.lower) if found.rigorous else -np.inf
    return [searched.values["x"], found.values["x"]], lower, found.method


def best(problem: depot.Problem, points: list[Array]) -> Array:
    """The best of the points and of those beside them with shorter numbers.

    Points are moved onto their violated rows first. One that satisfies all rows exactly is taken
    before one that owes a millionth of a millionth to rounding.
    """
    tried = [x for point in points for x in (point, *(np.round(point * k) / k for k in SHORT))]
    near = [point for x in tried for point in [problem.nearby(x)] if point is not None]
    if not near:
        raise FalseProof(f"{problem}: no point is feasible to rounding")
    values = [problem.objective(x) for x in near]
    limit = min(values) + 1e-12 * abs(min(values))
    good = [k for k, value in enumerate(values) if value <= limit]
    return near[min(good, key=lambda k: (problem.violation(near[k])[0], values[k]))]


def bracket(
    problem: depot.Problem, x: Array, lower: float, method: str, closed: float | None, target: float
) -> Row:
    """The entries of a point and a lower bound, compared with a closed form."""
    upper = problem.objective(x)
    unit = abs(upper if closed is None else closed) or 1.0
    slack = depot.ROUNDING * unit
    for value in (upper, *([] if closed is None else [closed])):
        if value < lower - slack:
            raise FalseProof(f"{problem}: {value!r} is attained, below the bound {lower!r}")
    if closed is not None and closed > upper + slack:
        raise FalseProof(f"{problem}: {upper!r} is attained, below the closed form {closed!r}")
    # Rounding may have moved the point past the bound, by less than what was refused above.
    lower = min(lower, upper)
    if closed is not None:
        if upper - lower > target * unit:
            lower, method = closed, CLOSED_FORM
        lower, upper = min(lower, closed), max(upper, closed)
    is_open = bool(upper - lower > target * unit)
    return {
        "lower": written(lower), "upper": written(upper), "method": method, "x": listed(x),
        "optimum": "" if closed is None else written(closed),
        "tags": problem._row["tags"] + " open" * is_open,
    }  # fmt: skip


def written(value: float) -> str:
    """The shortest text of a number; that of a whole one has no point."""
    value = float(value) + 0.0
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)


def listed(numbers: Array) -> str:
    return " ".join(map(written, numbers))


def read(path: Path) -> dict[str, Row]:
    """The rows of a table by name; none if there is no file."""
    if not path.exists():
        return {}
    text = gzip.decompress(path.read_bytes()).decode("utf-8")
    return {row["name"]: row for row in csv.DictReader(io.StringIO(text))}


def write(rows: Sequence[Row], path: Path) -> None:
    """Write a table, the same bytes for the same rows."""
    text = io.StringIO()
    table = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
    path.write_bytes(gzip.compress(text.getvalue().encode("utf-8"), 9, mtime=0))


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, and write the table after each row."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("table", type=Path, help="where the table is, or is to be")
    parser.add_argument("patterns", nargs="*", help="names to compute: 'sigmoid-*'")
    parser.add_argument("--time-limit", type=float, default=60.0, help="seconds for each bracket")
    parser.add_argument("--missing", action="store_true", help="only rows that the table lacks")
    options = parser.parse_args(arguments)
    known = names()
    wanted: list[str] = []
    for pattern in options.patterns or ["*"]:
        # What fits no name is refused as a name.
        wanted += [name for name in known if fnmatchcase(name, pattern)] or [pattern]
    for name in wanted:
        checks.choice("name", name, known)
    rows = read(options.table)
    for name in wanted:
        if options.missing and name in rows:
            continue
        try:
            row = computed(name, rows.get(name), options.time_limit)
        except (FalseProof, iopt.IndefiniteOptError) as error:
            print(f"{name}: NO ROW: {error}", flush=True)
            continue
        rows[name] = row
        write([rows[each] for each in known if each in rows], options.table)
        print(f"{name}: [{row['lower']}, {row['upper']}], {row['method']}, {row['tags']}",
              flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
