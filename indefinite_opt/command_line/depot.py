"""The command `depot`: problems with proved optima, to check a solver against."""

from __future__ import annotations

import math
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.table import Table
from typer import Argument, Exit, Option

import indefinite_opt as iopt
from indefinite_opt.command_line.options import JSON, MAX_SIZE, TOL
from indefinite_opt.command_line.terminal import (
    check_writable,
    console,
    print_json,
    read_values,
    say,
)
from indefinite_opt.errors import ParameterError, ProblemError, UnknownName
from indefinite_opt.foundation import checks, finite_array, writing


def problems(
    names: str = Argument("*", help="A name, or a pattern such as 'boxqp-50-*'."),
    kind: str | None = Option(None, help="Only linear, convex, nonconvex, box or rows."),
    as_json: bool = JSON,
    check: Path | None = Option(None, help="A .json, .npz or .csv file with your point x."),
    write: Path | None = Option(None, help="The .qplib, .mps, .lp, .npz or .in file to write."),
    prove: Path | None = Option(None, help="The .json file of a new proof, for `check-proof`."),
    export: Path | None = Option(None, help="Folder for a copy that needs numpy alone."),
    tol: float = TOL,
    time_limit: float = Option(60.0, help="Seconds allowed for a new proof."),
    max_bytes: int = MAX_SIZE,
) -> None:
    """List problems with proved optima, or check a point of one.

    --write gives a problem to another solver, --prove proves its optimum anew, and --export copies
    all of them. With --check the exit code is 1 unless the point is as good as the optimum, or as
    the best known one; null in the file stands for the answer that there is no optimum.
    """
    if export is not None:
        say(_exported(export))
        return
    found = iopt.depot(names, kind=kind)
    if not found:
        known = [problem.name for problem in iopt.depot(kind=kind)]
        raise UnknownName("names", names, known)
    if check is None and write is None and prove is None:
        _list(found, as_json)
        return
    if len(found) > 1:
        raise ParameterError("names", "one problem", f"{len(found)}: {names}")
    (problem,) = found
    check_writable(proof=prove)
    if write is not None:
        say(iopt.QuadraticProgram.read(problem.name).write(write))
    if prove is not None:
        say(_proved(problem, prove, time_limit))
    if check is not None:
        checks.tolerance("tol", tol)
        verdict = problem.check(_point(read_values(check, max_bytes), problem.n), tol)
        say(verdict)
        raise Exit(int(not verdict))


def _exported(folder: Path) -> str:
    """Copy the module and its table, which need nothing else of this package."""
    from indefinite_opt.quadratic import instances

    module = Path(instances.depot.__file__)
    with writing("export", folder, "folder"):
        folder.mkdir(parents=True, exist_ok=True)
        for path in (module, instances.depot.TABLE):
            shutil.copyfile(path, folder / path.name)
    return f"{folder / module.name}\n{folder / instances.depot.TABLE.name}"


def _list(found: list[Any], as_json: bool) -> None:
    if as_json:
        print_json({problem.name: _told(problem) for problem in found})
        return
    table = Table("name", "kind", "n", "optimum", "gap", "tags", box=None, pad_edge=False)
    for problem in found:
        told = _told(problem)
        best = told["status"] if problem.status != "optimal" else f"{problem.upper:.6g}"
        gap = f"{told['gap']:.0e}" if problem.status == "optimal" else ""
        table.add_row(problem.name, problem.kind, str(problem.n), best, gap, " ".join(problem.tags))
    console.print(table)


def _told(problem: Any) -> dict[str, Any]:
    gap = (problem.upper - problem.lower) / problem.unit
    attributes = "kind n status lower upper optimum inertia tags source x ray conflict"
    told = {name: getattr(problem, name) for name in attributes.split()}
    return told | {"gap": gap if math.isfinite(gap) else None}


def _point(values: Any, n: int) -> Any:
    """The point in what a file holds: a list, or a mapping whose one entry is a list."""
    if isinstance(values, Mapping):
        if len(values) != 1:
            raise ProblemError("check", "one list of numbers, x", f"{len(values)} entries")
        (values,) = values.values()
    if values is None:
        return None
    return finite_array("x", values, (n,))


def _proved(problem: Any, path: Path, time_limit: float) -> Path:
    """Prove the optimum anew, or that there is none, and write the proof."""
    qp = iopt.QuadraticProgram.read(problem.name)
    if problem.ray is not None:
        return iopt.verify(qp, {"ray": problem.ray}).save(path)
    if problem.conflict is not None:
        m = qp.h.size
        both = {"inequalities": problem.conflict[:m], "equalities": problem.conflict[m:]}
        given: Any = {rows: part for rows, part in both.items() if part.size}
        return iopt.verify(qp, {"conflict": given}).save(path)
    if problem.kind in ("linear", "convex"):
        return iopt.solve(qp, tol=1e-9).certificate.save(path)
    gap = 1e-6 * min(1.0, problem.unit)
    return iopt.bound(qp, time_limit=time_limit, gap=gap).save(path)
