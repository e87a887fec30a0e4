"""Generic global solvers as peers for nonconvex quadratic programs: SCIP and Gurobi.

The program is min F(x) = ½xᵀHx + cᵀx  s.t.  Gx ≤ h, Ax = b, lower ≤ x ≤ upper. Each peer gets these
arrays as they are, one thread or as many as `gurobi` is asked for, its default settings and our
relative gap, and answers with a bracket of min F: the lower bound that it claims, within its own
tolerances, and F at a feasible point near its best point, evaluated by us.

`python benchmarks/global_peers.py` races both to a relative gap of 1e-6; `global_bracket.py` has
their brackets of more programs. The package needs neither SCIP (`pip install pyscipopt`) nor Gurobi
(`pip install gurobipy`). The licence included in gurobipy limits the size of nonconvex programs; a
note says where it refuses one.
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from multiprocessing.connection import Connection

import numpy as np
from local_solver import two_classes
from numpy.typing import NDArray

import indefinite_opt as iopt
from indefinite_opt.quadratic import PolyhedralQP, answers
from indefinite_opt.quadratic.programs.paired_qp import PairedQP

Array = NDArray[np.float64]

RELATIVE_GAP = 1e-6
"""Gap at which a peer may stop; a smaller one means nothing with constraints satisfied to 1e-6."""

GRACE = 1.1
"""Multiple of the time limit after which a peer is killed."""

INFINITE = 1e20
"""SCIP's infinity; Gurobi's, 1e100, is larger."""


@dataclass(frozen=True)
class PeerBracket:
    """The bracket lower ≤ min F ≤ upper that one peer gives.

    Attributes
    ----------
    lower : float
        The bound that the peer claims, within its tolerances; -inf without one.
    upper : float
        F at the peer's point after `project` of the program; inf without a point.
    seconds : float
        Wall time from the arrays to the answer, without imports.
    cpu : float
        CPU seconds of the same; nan if the peer was stopped from outside.
    note : str
        An explanation such as not installed, too large for the licence, stopped, or crashed.
    unit : float
        The least number by which the gap is divided, which serves optimal values about 0.
    """

    lower: float
    upper: float
    seconds: float
    note: str = ""
    unit: float = 1.0
    cpu: float = np.nan

    @property
    def gap(self) -> float:
        """(upper - lower) / max(unit, |upper|); inf if an end of the bracket is missing.

        It is negative if the peer's tolerances let its bound cross an attained value.
        """
        if not (np.isfinite(self.lower) and np.isfinite(self.upper)):
            return np.inf
        return (self.upper - self.lower) / max(self.unit, abs(self.upper))


ProgramKind = PairedQP | PolyhedralQP

Peer = Callable[[ProgramKind, float], PeerBracket]


# The program as plain arrays, and what comes back from the process that solves it


def least_unit(program: ProgramKind) -> float:
    """A size of F below which a gap of a peer is not judged: its rounding at a feasible point."""
    return answers.zero_range(program, program.at(program.start()))


@dataclass(frozen=True, eq=False)
class QP:
    """min ½xᵀHx + cᵀx  s.t.  Gx ≤ h, Ax = b, lower ≤ x ≤ upper, as a peer receives it."""

    H: Array
    c: Array
    G: Array
    h: Array
    A: Array
    b: Array
    lower: Array
    upper: Array
    absolute_gap: float

    @classmethod
    def of(cls, program: ProgramKind) -> QP:
        """The arrays of a program; with two lines no entry can exceed the weight of its class."""
        absolute_gap = RELATIVE_GAP * least_unit(program)
        if isinstance(program, PolyhedralQP):
            body = program.feasible
            return cls(
                program.P, program.q, body.G, body.h, body.A, body.b, body.lower, body.upper,
                absolute_gap,
            )  # fmt: skip
        n = program.n
        cap = 0.5 * program.feasible.total if program.feasible.lines == 2 else np.inf
        return cls(
            H=program.H(),
            c=np.broadcast_to(program.linear, n).astype(float),
            G=np.zeros((0, n)),
            h=np.zeros(0),
            A=program.feasible.A,
            b=program.feasible.b,
            lower=np.zeros(n),
            upper=np.full(n, min(program.feasible.upper, cap)),
            absolute_gap=absolute_gap,
        )

    @property
    def n(self) -> int:
        """Number of variables."""
        return self.c.size


@dataclass(frozen=True, eq=False)
class Answer:
    """The answer of a solver: its bound, its point, a note, and its CPU seconds."""

    lower: float = -np.inf
    x: Array | None = field(default=None, repr=False)
    note: str = ""
    cpu: float = np.nan


Solve = Callable[[QP, float], Answer]


def bound(claimed: float) -> float:
    """A claimed lower bound, or -inf if the solver means that it has none."""
    return claimed if abs(claimed) < INFINITE else -np.inf


def answer_through(pipe: Connection, module: str, solve: Solve, qp: QP, limit: float) -> None:
    """In the child process: report first that the solver is imported, then its answer."""
    import_module(module)
    pipe.send(None)
    began = time.process_time()
    answer = solve(qp, limit)
    pipe.send(replace(answer, cpu=time.process_time() - began))


def in_child(module: str, solve: Solve, qp: QP, limit: float) -> tuple[Answer, float]:
    """An answer and its seconds, computed in a separate process.

    SCIP checks its time limit too seldom on dense programs of hundreds of variables, and a crash
    must not end the benchmark.
    """
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    child = context.Process(
        target=answer_through, args=(theirs, module, solve, qp, limit), daemon=True
    )
    child.start()
    theirs.close()
    began = time.perf_counter()
    answer = Answer(note=f"stopped from outside: no answer within {GRACE:g} of the time limit")
    try:
        ours.recv()
        began = time.perf_counter()
        if ours.poll(GRACE * limit):
            answer = ours.recv()
        seconds = time.perf_counter() - began
    except EOFError:
        seconds = time.perf_counter() - began
        child.join()
        answer = Answer(note=f"crashed with exit code {child.exitcode}")
    finally:
        child.kill()
        child.join()
        ours.close()
    return answer, seconds


def bracket(module: str, solve: Solve, program: ProgramKind, limit: float) -> PeerBracket:
    """Run one solver on a program and evaluate its point ourselves."""
    unit = least_unit(program)
    if find_spec(module) is None:
        note = f"not installed: pip install {module}"
        return PeerBracket(-np.inf, np.inf, 0.0, note, unit)
    answer, seconds = in_child(module, solve, QP.of(program), limit)
    upper = np.inf
    if answer.x is not None and np.all(np.isfinite(answer.x)):
        upper = program.value(program.feasible.project(answer.x))
    return PeerBracket(answer.lower, upper, seconds, answer.note, unit, answer.cpu)


# SCIP


def solve_scip(qp: QP, limit: float) -> Answer:
    """Solve min t  s.t.  ½xᵀHx + cᵀx ≤ t, as SCIP has linear objectives only.

    The time limit includes the construction of the model from n²/2 single terms.
    """
    from pyscipopt import Model, quicksum

    began = time.perf_counter()
    model = Model()
    model.hideOutput()
    x = [
        model.addVar(lb=low if np.isfinite(low) else None, ub=high if np.isfinite(high) else None)
        for low, high in zip(qp.lower, qp.upper, strict=True)
    ]
    t = model.addVar(lb=None, obj=1.0)
    for a, b in zip(qp.A, qp.b, strict=True):
        model.addCons(quicksum(a[i] * x[i] for i in range(qp.n)) == b)
    for row, end in zip(qp.G, qp.h, strict=True):
        model.addCons(quicksum(row[i] * x[i] for i in range(qp.n)) <= end)
    weights = qp.H - 0.5 * np.diag(np.diag(qp.H))
    square = quicksum(
        weights[i, j] * x[i] * x[j] for i in range(qp.n) for j in range(i, qp.n) if weights[i, j]
    )
    model.addCons(square + quicksum(qp.c[i] * x[i] for i in range(qp.n)) <= t)
    model.setParam("limits/gap", RELATIVE_GAP)
    model.setParam("limits/absgap", qp.absolute_gap)
    model.setParam("limits/time", max(limit - (time.perf_counter() - began), 0.0))
    model.optimize()
    point = np.array([model.getVal(each) for each in x]) if model.getNSols() else None
    return Answer(bound(model.getDualbound()), point)


def scip(program: ProgramKind, time_limit: float) -> PeerBracket:
    """SCIP's spatial branch and bound, through PySCIPOpt."""
    return bracket("pyscipopt", solve_scip, program, time_limit)


# Gurobi


def solve_gurobi(qp: QP, limit: float, threads: int = 1) -> Answer:
    """Solve the program as it is; if the licence refuses it, a note says so.

    If H is positive semidefinite within Gurobi's tolerance PSDTol, Gurobi treats the program as a
    convex QP, whose bound is the dual objective. The time limit includes the licence check.
    """
    import gurobipy

    began = time.perf_counter()
    settings = {
        "OutputFlag": 0,
        "Threads": threads,
        "NonConvex": 2,
        "MIPGap": RELATIVE_GAP,
        "MIPGapAbs": qp.absolute_gap,
    }
    try:
        with gurobipy.Env(params=settings) as env, gurobipy.Model(env=env) as model:
            x = model.addMVar(qp.n, lb=qp.lower, ub=qp.upper)
            if qp.b.size:
                model.addMConstr(qp.A, x, "=", qp.b)
            if qp.h.size:
                model.addMConstr(qp.G, x, "<", qp.h)
            model.setObjective(0.5 * (x @ qp.H @ x) + qp.c @ x)
            model.setParam("TimeLimit", max(limit - (time.perf_counter() - began), 0.0))
            model.optimize()
            point = np.array(x.X) if model.SolCount else None
            return Answer(bound(getattr(model, "ObjBound", -np.inf)), point)
    except gurobipy.GurobiError as error:
        return Answer(note=f"n = {qp.n}: {error}")


def gurobi(program: ProgramKind, time_limit: float, threads: int = 1) -> PeerBracket:
    """Gurobi's spatial branch and bound, through gurobipy with the licence that it finds."""
    return bracket("gurobipy", partial(solve_gurobi, threads=threads), program, time_limit)


PEERS: dict[str, Peer] = {"SCIP": scip, "Gurobi": gurobi}


RACES: dict[str, tuple[str, ...]] = {
    "short": ("boxqp-30-60-1", "boxqp-50-30-1", "rowqp-20-5-5-50-1", "clique-turan-12-4"),
    "full": ("boxqp-50-50-1", "boxqp-70-25-1", "rowqp-40-10-10-50-1", "clique-turan-20-5"),
}
"""Programs that are raced, beside SVM duals of 30 points, or of 60."""


def race(
    name: str, problem: iopt.KernelProblem | iopt.QuadraticProgram, limit: float
) -> dict[str, float]:
    """The seconds of each peer to a relative gap of `RELATIVE_GAP`, divided by ours.

    If the limit stops a peer, the ratio is a lower bound; if it stops us, an upper one.
    """
    formulation = None if isinstance(problem, iopt.QuadraticProgram) else iopt.SVMDual(C=10.0)
    program = problem.program() if formulation is None else formulation.program(problem)
    began = time.perf_counter()
    iopt.bound(problem, formulation, time_limit=limit, gap=RELATIVE_GAP)
    ours = time.perf_counter() - began
    answers = {peer: PEERS[peer](program, limit) for peer in ("SCIP", "Gurobi")}
    return {
        f"{peer}, {name}": (limit if answer.gap > 2.0 * RELATIVE_GAP else answer.seconds) / ours
        for peer, answer in answers.items()
        if not (answer.note and np.isinf(answer.gap))  # not installed, or beyond its licence
    }


def ratios(full: bool = False) -> dict[str, float]:
    """Races against SCIP and Gurobi, which are left out where they are not installed."""
    limit, n = (120.0, 60) if full else (10.0, 30)
    found: dict[str, float] = {}
    iopt.bound(iopt.QuadraticProgram.read("boxqp-20-100-1"), time_limit=5.0)  # imports
    for name in RACES["short"] + RACES["full"] * full:
        found |= race(name, iopt.QuadraticProgram.read(name), limit)
    for kernel in ("sigmoid", "epanechnikov"):
        problem = iopt.KernelProblem(*two_classes(n, kernel))
        found |= race(f"SVM dual, {kernel}, n = {n}", problem, limit)
    return found


if __name__ == "__main__":
    for row, ratio in ratios().items():
        print(f"| {row} | {ratio:.2f} |", flush=True)
