"""What solvers miss on the depot; run `python benchmarks/depot_solvers.py`.

Each solver gets the problems that it is made for, once with its own default settings and once with
tolerances of 1e-9, and `check` says what it has answered, at 1e-6. The solvers of convex programs
are called by qpsolvers; SLSQP is scipy's, Uno comes from `unopy`, and those that are not installed
are left out. A point of a solver that says itself that it has not converged is no answer. One that
says that there is no optimum, or returns no point and no reason, has answered None. A call that
takes longer than `--seconds` is ended, and is no answer, either.

Problems that are `open` are left out, and infeasible ones that points violate by 1e-9 at most.
`--misses` lists each answer that does not pass, with its verdict.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import multiprocessing as mp
import os
import re
import warnings
from collections import Counter
from collections.abc import Callable
from queue import Empty
from typing import Any, NamedTuple

import numpy as np

import indefinite_opt as iopt

CONVEX, NONCONVEX = ("linear", "convex"), ("box", "rows")

PASSED, NO_ANSWER = "passed", "no answer"
ENDED = f"{NO_ANSWER} in time"
COLUMNS = {
    PASSED: "passed",
    "MISSED": "missed",
    "BELOW": "below the optimum",
    "NOT FEASIBLE": "not feasible",
    "NO OPTIMUM": "point without optimum",
    "AN OPTIMUM": "no point, but an optimum",
    "FALSE PROOF": "disproved",
    NO_ANSWER: "no answer",
}
"""What an answer is counted as, by the first words of its verdict."""


class Answer(NamedTuple):
    """What a solver says of a problem: a point, None for no optimum, or nothing, with its words."""

    x: Any = None
    words: str = ""


TIGHT: dict[str, dict[str, Any]] = {
    "osqp": {"eps_abs": 1e-9, "eps_rel": 1e-9, "max_iter": 200_000, "polishing": True},
    "scs": {"eps_abs": 1e-9, "eps_rel": 1e-9, "max_iters": 200_000},
    "piqp": {"eps_abs": 1e-9, "eps_rel": 1e-9},
    "daqp": {"primal_tol": 1e-9, "dual_tol": 1e-12},
    "proxqp": {"eps_abs": 1e-9, "eps_rel": 0.0, "max_iter": 100_000},
    "highs": {"primal_feasibility_tolerance": 1e-9, "dual_feasibility_tolerance": 1e-9},
    "clarabel": {"tol_gap_abs": 1e-9, "tol_gap_rel": 1e-9, "tol_feas": 1e-9},
}
"""Settings of the second table. Those of SLSQP and Uno are in their functions."""


def by_qpsolvers(name: str) -> Callable[[Any, bool], Answer]:
    """The answer of a solver that qpsolvers calls."""

    def answer(p: Any, tight: bool) -> Answer:
        import qpsolvers
        from scipy import sparse

        parts = {key: getattr(p, key) for key in ("P", "q", "G", "h", "A", "b", "lb", "ub")}
        if not parts["h"].size:
            parts["G"] = parts["h"] = None
        if not parts["b"].size:
            parts["A"] = parts["b"] = None
        if name in qpsolvers.sparse_solvers:
            for key in ("P", "G", "A"):
                if parts[key] is not None:
                    parts[key] = sparse.csc_matrix(parts[key])
        settings = TIGHT[name] if tight else {}
        found = qpsolvers.solve_problem(qpsolvers.Problem(**parts), solver=name, **settings)
        if found.found:
            return Answer(np.asarray(found.x))
        extras = found.extras or {}
        status = extras.get("status") or getattr(extras.get("info"), "status", "")
        if status and not re.search(r"(?i)infeasible|unbounded", str(status)):
            return Answer(None, f"{NO_ANSWER}: {status}")
        return Answer(None, str(status))

    return answer


def by_slsqp(p: Any, tight: bool) -> Answer:
    """SLSQP from the middle of the ranges, or from 0 where they are infinite."""
    from scipy.optimize import minimize

    rows = [(p.G, p.h, "ineq"), (p.A, p.b, "eq")]
    constraints = [
        {"type": kind, "fun": lambda x, R=R, r=r: r - R @ x, "jac": lambda x, R=R: -R}
        for R, r, kind in rows
        if r.size
    ]
    middle = np.nan_to_num(0.5 * (p.lb + p.ub), nan=0.0, posinf=0.0, neginf=0.0)
    found = minimize(
        lambda x: 0.5 * x @ p.P @ x + p.q @ x, np.clip(middle, p.lb, p.ub), method="SLSQP",
        jac=lambda x: p.P @ x + p.q, bounds=list(zip(p.lb, p.ub, strict=True)),
        constraints=constraints, tol=1e-12 if tight else None,
        options={"maxiter": 1000} if tight else {},
    )  # fmt: skip
    if found.success:
        return Answer(found.x)
    no_point = "incompatible" in found.message  # "Inequality constraints incompatible"
    return Answer(None, "infeasible" if no_point else NO_ANSWER)


def by_uno(p: Any, tight: bool) -> Answer:
    """Uno's SQP method with a filter, from where SLSQP starts."""
    import unopy

    rows, low = np.vstack([p.G, p.A]), np.concatenate([np.full(p.h.size, -np.inf), p.b])
    high, (m, n) = np.concatenate([p.h, p.b]), rows.shape
    model = unopy.Model("QP", n, p.lb.tolist(), p.ub.tolist(), unopy.ZERO_BASED_INDEXING)

    def gradient(x: Any, found: Any) -> None:
        found[:] = p.P @ x + p.q

    def values(x: Any, found: Any) -> None:
        found[:] = rows @ x

    def jacobian(x: Any, found: Any) -> None:
        found[:] = rows.ravel()

    lower = np.tril_indices(n)

    def hessian(x: Any, share: float, multipliers: Any, found: Any) -> None:
        found[:] = share * p.P[lower]

    model.set_objective(unopy.MINIMIZE, lambda x: float(0.5 * x @ p.P @ x + p.q @ x), gradient)
    if m:
        at, member = np.divmod(np.arange(m * n), n)
        model.set_constraints(
            m, values, low.tolist(), high.tolist(), m * n, at.tolist(), member.tolist(), jacobian
        )
    model.set_lagrangian_hessian(
        lower[0].size, unopy.LOWER_TRIANGLE, lower[0].tolist(), lower[1].tolist(), hessian
    )
    middle = np.nan_to_num(0.5 * (p.lb + p.ub), nan=0.0, posinf=0.0, neginf=0.0)
    model.set_initial_primal_iterate(np.clip(middle, p.lb, p.ub).tolist())
    solver = unopy.UnoSolver()
    solver.set_preset("filtersqp")
    solver.set_option("logger", "SILENT")
    if tight:
        solver.set_option("primal_tolerance", 1e-10)
        solver.set_option("dual_tolerance", 1e-10)
    found = solver.optimize(model)
    said = str(found.solution_status)
    if "KKT" in said:
        return Answer(np.array(found.primal_solution))
    if "UNBOUNDED" in said or "INFEASIBLE_STATIONARY" in said:
        return Answer(None, said.rpartition(".")[2].lower())
    return Answer(None, NO_ANSWER)


def ours(p: Any, tight: bool) -> Answer:
    """`solve`, which is a local method where the program is not convex."""
    program = iopt.QuadraticProgram(p.P, p.q, p.G, p.h, p.A, p.b, p.lb, p.ub)
    try:
        found = iopt.solve(program, tol=1e-9 if tight else 1e-6)
    except (iopt.errors.UnboundedProblem, iopt.errors.InfeasibleProblem) as error:
        return Answer(None, type(error).__name__)
    return Answer(found.values["x"])


class Peer(NamedTuple):
    """A solver: how it is asked, what it is made for, and the packages that it needs.

    The version of the first one is shown.
    """

    answer: Callable[[Any, bool], Answer]
    kinds: tuple[str, ...]
    packages: tuple[str, ...]


PEERS = {
    **{
        name: Peer(by_qpsolvers(name), CONVEX, (package, "qpsolvers"))
        for name, package in {
            "osqp": "osqp", "scs": "scs", "piqp": "piqp", "daqp": "daqp", "proxqp": "proxsuite",
            "highs": "highspy", "clarabel": "clarabel",
        }.items()
    },
    "slsqp": Peer(by_slsqp, (*CONVEX, *NONCONVEX), ("scipy",)),
    "uno": Peer(by_uno, (*CONVEX, *NONCONVEX), ("unopy",)),
    "indefinite_opt": Peer(ours, (*CONVEX, *NONCONVEX), ("indefinite_opt",)),
}  # fmt: skip


def _serve(name: str, asked: Any, answers: Any) -> None:
    """Answer the problems that come, each with its settings, until the process is ended."""
    warnings.simplefilter("ignore")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what solvers print
    while True:
        problem, tight = asked.get()
        [p] = iopt.depot(problem)
        try:
            answers.put(PEERS[name].answer(p, tight))
        except Exception as error:
            answers.put(Answer(None, f"{NO_ANSWER}: {type(error).__name__} {error}"))


class Asked:
    """A solver in a process of its own, which is ended when a call takes too long."""

    def __init__(self, name: str, tight: bool, seconds: float) -> None:
        self.name, self.tight, self.seconds = name, tight, seconds
        self._process: Any = None

    def __call__(self, problem: str) -> Answer:
        if self._process is None:
            context = mp.get_context("spawn")
            self._asked, self._answers = context.Queue(), context.Queue()
            self._process = context.Process(
                target=_serve, args=(self.name, self._asked, self._answers), daemon=True
            )
            self._process.start()
            self._received("hs35", 60.0)  # what is imported and compiled is not timed
        answer = self._received(problem, self.seconds)
        if answer.words == ENDED:
            self.end()
        return answer

    def _received(self, problem: str, seconds: float) -> Answer:
        self._asked.put((problem, self.tight))
        try:
            found: Answer = self._answers.get(timeout=seconds)
        except Empty:
            return Answer(None, ENDED)
        return found

    def end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process = None


def judged(p: Any, answer: Answer) -> tuple[str, str]:
    """The column of an answer, and its verdict."""
    if answer.x is None and answer.words.startswith(NO_ANSWER):
        return NO_ANSWER, answer.words
    if answer.x is not None and not np.isfinite(answer.x).all():
        return NO_ANSWER, "numbers that are not finite"
    verdict = p.check(answer.x)
    words = str(verdict)
    return PASSED if verdict else next(c for c in COLUMNS if words.startswith(c)), words


def version(package: str) -> str:
    """The installed version of a package; empty if it is not installed."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""


def main() -> None:
    """Ask each solver, and print the tables as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--n-max", type=int, default=60, help="largest number of variables")
    parser.add_argument("--seconds", type=float, default=10.0, help="longest time of a call")
    parser.add_argument("--solvers", nargs="*", choices=PEERS, default=[*PEERS])
    parser.add_argument("--misses", action="store_true", help="list answers that do not pass")
    options = parser.parse_args()
    known = [name for name in options.solvers if all(map(version, PEERS[name].packages))]
    for name in options.solvers:
        if name not in known:
            print(f"{name} is left out: pip install {' '.join(PEERS[name].packages)}")
    missed: list[str] = []
    for kinds in (CONVEX, NONCONVEX):
        problems = [
            p
            for kind in kinds
            for p in iopt.depot(kind=kind, n_max=options.n_max, without="open narrow")
        ]
        for tight in (False, True):
            words = "1e-9" if tight else "by default"
            print(f"\n{' and '.join(kinds)}: {len(problems)} problems, tolerances {words}\n")
            print(f"| solver | {' | '.join(COLUMNS.values())} |")
            print("|---" * (1 + len(COLUMNS)) + "|")
            for name in known:
                if set(kinds) <= set(PEERS[name].kinds):
                    asked, counts = Asked(name, tight, options.seconds), Counter[str]()
                    for p in problems:
                        column, told = judged(p, asked(p.name))
                        counts[column] += 1
                        if column != PASSED:
                            missed.append(f"{name}, {words}, {p.name}: {told}")
                    asked.end()
                    numbers = " | ".join(str(counts[column]) for column in COLUMNS)
                    print(f"| {name} {version(PEERS[name].packages[0])} | {numbers} |", flush=True)
    if options.misses:
        print("\n" + "\n".join(missed))


if __name__ == "__main__":
    main()
