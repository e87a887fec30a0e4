"""The campaign: draw, solve, examine, count."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from attacks import attacks
from campaign import Campaign
from claims import Finding, bracket_findings, certificate_findings
from drawing import BRACKETED, FORMULATIONS, KERNELS, Drawn, draw
from references import Quadratic, Reference, reference_of

import indefinite_opt as iopt

__all__ = ["Hunt"]

SECONDS = 3.0
"""Limit of every solve: without one, a simplex method that cycles never returns."""


@dataclass
class Hunt(Campaign):
    """Problems of these kinds drawn one after the other, and everything that was found.

    With `brackets_only` nothing else is examined, of formulations that have them.
    """

    kernels: list[str] = field(default_factory=lambda: list(KERNELS))
    formulations: list[str] = field(default_factory=lambda: list(FORMULATIONS))
    brackets_only: bool = False

    def draw(self, number: int) -> Drawn:
        return draw(self.seed, number, self.kernels, self.formulations)

    def examine(self, drawn: Drawn) -> None:
        reference = self._reference = reference_of(drawn)
        for fault in reference.faults:
            self.fail(drawn, "data", fault, "formulation.program(problem)")
        if self.brackets_only:
            self._bracket(drawn, reference)
            return
        g = np.random.default_rng([drawn.seed, drawn.number, 1])
        result = self._solves(g, drawn, reference)
        self._attack(g, drawn, reference, result)
        if drawn.name in BRACKETED and g.random() < 0.5:
            self._bracket(drawn, reference)

    def _solves(
        self, g: np.random.Generator, drawn: Drawn, reference: Reference
    ) -> iopt.workflow.Result | None:
        """The default solver and one other; the result of the first."""
        first = None
        for name in (None, str(g.choice(iopt.available_solvers(drawn.formulation)))):
            call = f"result = iopt.solve(problem, formulation, {name!r}, {drawn.tol}, {SECONDS})"
            result = self.call(drawn, call, _solve, drawn, name)
            if result is None:
                continue
            first = first or result
            certificate = self.certified(drawn, result, call)
            if certificate is not None:
                call += "\nprint(result.certificate)"
                findings = certificate_findings(reference, result.values, certificate)
                self.examined(drawn, findings, call, result.solver)
        return first

    def _attack(
        self,
        g: np.random.Generator,
        drawn: Drawn,
        reference: Reference,
        result: iopt.workflow.Result | None,
    ) -> None:
        problem = drawn.problem()
        for kind, values, multipliers in attacks(g, drawn, reference, result):
            said = [v and {k: np.asarray(a).tolist() for k, a in v.items()}
                    for v in (values, multipliers)]  # fmt: skip
            call = f"values, multipliers = {said!r}\n"
            call += f"print(iopt.verify(problem, formulation, values, multipliers, {drawn.tol}))"
            certificate = self.call(
                drawn, call, iopt.verify, problem, drawn.formulation, values, multipliers, drawn.tol
            )
            if certificate is None:
                continue
            self.counts[f"verify {certificate.claim.name}"] += 1
            given = multipliers is not None
            findings = certificate_findings(reference, values, certificate, given)
            self.examined(drawn, findings, call, kind)
            if kind == "multipliers of the wrong sign" and certificate.claim > iopt.Claim.FEASIBLE:
                inequalities = [v for k, v in result.multipliers.items()
                                if k not in ("balance", "total")]  # fmt: skip
                largest = max(float(np.max(v, initial=0.0)) for v in inequalities)
                if largest > 1e-3 * max(1.0, float(np.abs(drawn.K).max())):
                    self.fail(drawn, "signs", f"{certificate.claim.name} of {largest:.2e}", call)

    def _bracket(self, drawn: Drawn, reference: Reference) -> None:
        call = "bracket = iopt.bound(problem, formulation, time_limit=1.0, max_nodes=200)"
        problem, limits = drawn.problem(), {"time_limit": 1.0, "max_nodes": 200}
        bracket = self.call(drawn, call, lambda: iopt.bound(problem, drawn.formulation, **limits))
        if bracket is None:
            return
        call += "\nprint(bracket, bracket.check(problem))"
        checked = self.call(drawn, call, bracket.check, problem)
        if checked is not None:
            self.counts["bracket"] += 1
            self.examined(drawn, bracket_findings(reference, bracket, checked), call, "bound")

    # ------------------------------------------------------------------------------ accounts

    def refused(self, drawn: Drawn, error: iopt.IndefiniteOptError) -> str | None:
        self.counts[type(error).__name__] += 1
        if isinstance(error, iopt.errors.UnboundedProblem):
            reference = self._reference
            bounded = isinstance(reference, Quadratic) and reference.low is not None
            return "called unbounded, and is not" if bounded else None
        infeasible = isinstance(error, iopt.errors.InfeasibleProblem)
        return f"called infeasible, and is not: {error}" if infeasible else None

    def examined(self, drawn: Drawn, findings: Iterable[Finding], text: str, by: str = "") -> None:
        named = (Finding(f"{each.what} of {drawn.name}", each.numbers) for each in findings)
        super().examined(drawn, named, text, by)


def _solve(drawn: Drawn, name: str | None) -> iopt.workflow.Result:
    return iopt.solve(drawn.problem(), drawn.formulation, name, drawn.tol, SECONDS)
