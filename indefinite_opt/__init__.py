"""Optimization problems of learning with indefinite kernels.

Declared as the papers write them, solved, certified and compared.

>>> import indefinite_opt as iopt
>>> problem = iopt.KernelProblem([[1.0, -1.0], [-1.0, 1.0]], [1, -1])
>>> result = iopt.solve(problem, iopt.SVMDual(C=1.0))
>>> result.objective, result.certificate.claim.name
(0.5, 'GLOBAL')
"""

from __future__ import annotations

from typing import Any

from indefinite_opt import datasets, kernels
from indefinite_opt import formulations as _formulations
from indefinite_opt.certificate import Certificate, verify
from indefinite_opt.classifier import Classifier
from indefinite_opt.compare import Comparison, compare
from indefinite_opt.errors import (
    BadArgument,
    DataError,
    IncompatibleSolver,
    IndefiniteOptError,
    InfeasibleProblem,
    ParameterError,
    ProblemError,
    SolverFailed,
    UnboundedProblem,
    UnknownName,
)
from indefinite_opt.formulation import Formulation
from indefinite_opt.geometry import Diagnosis, Embedding, diagnose, embed
from indefinite_opt.problem import KernelProblem
from indefinite_opt.program import Program
from indefinite_opt.solution import Claim, Optimum, Result, Status, Trace
from indefinite_opt.solve import fitting_solvers as solvers
from indefinite_opt.solve import solve, solve_path

__version__ = "0.1.0"

__all__ = [
    "BadArgument",
    "Certificate",
    "Claim",
    "Classifier",
    "Comparison",
    "DataError",
    "Diagnosis",
    "Embedding",
    "Formulation",
    "IncompatibleSolver",
    "IndefiniteOptError",
    "InfeasibleProblem",
    "KernelProblem",
    "Optimum",
    "ParameterError",
    "ProblemError",
    "Program",
    "Result",
    "SolverFailed",
    "Status",
    "Trace",
    "UnboundedProblem",
    "UnknownName",
    "compare",
    "datasets",
    "diagnose",
    "embed",
    "formulations",
    "kernels",
    "solve",
    "solve_path",
    "solvers",
    "verify",
]


def formulations() -> list[str]:
    """Names of the formulations."""
    return sorted(_formulations.known())


def __getattr__(name: str) -> Any:
    """Formulations by name; they are found in their folder, not listed here."""
    if name[:1].isupper() and name in _formulations.known():
        return _formulations.known()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *_formulations.known()])
