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

from indefinite_opt import formulations as _formulations
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
from indefinite_opt.modeling.classifier import Classifier
from indefinite_opt.modeling.formulation import Formulation
from indefinite_opt.modeling.program import Program
from indefinite_opt.problem import kernels
from indefinite_opt.problem.confidence_problem import ConfidenceProblem
from indefinite_opt.problem.datasets import loading as datasets
from indefinite_opt.problem.embedding import Embedding, embed
from indefinite_opt.problem.kernel_problem import KernelProblem
from indefinite_opt.solvers.solution import Claim, Optimum, Status, Trace
from indefinite_opt.studies import baselines as _baselines
from indefinite_opt.studies.comparison import Comparison, compare
from indefinite_opt.studies.reference_library import library as references
from indefinite_opt.theory.hulls import hull_to_svm, svm_to_hull
from indefinite_opt.theory.krein_certificate import krein_certificate
from indefinite_opt.theory.lifting import haasdonk_proposition_2, lin_lin_theorem_1
from indefinite_opt.theory.sigmoid import analyse_sigmoid, shift_threshold
from indefinite_opt.theory.sigmoid_limits import limit_study
from indefinite_opt.theory.suitability import Diagnosis, diagnose, hull_diagnosis
from indefinite_opt.theory.uniqueness import haasdonk_lemma_5
from indefinite_opt.workflow.bracket import Bracket, bound
from indefinite_opt.workflow.certificates.certificate import Certificate
from indefinite_opt.workflow.certificates.verification import verify
from indefinite_opt.workflow.choice import available_solvers as solvers
from indefinite_opt.workflow.path import solve_path
from indefinite_opt.workflow.result import Result
from indefinite_opt.workflow.solving import solve

__version__ = "0.1.0"

__all__ = [
    "BadArgument",
    "Bracket",
    "Certificate",
    "Claim",
    "Classifier",
    "Comparison",
    "ConfidenceProblem",
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
    "analyse_sigmoid",
    "baselines",
    "bound",
    "compare",
    "datasets",
    "diagnose",
    "embed",
    "formulations",
    "haasdonk_lemma_5",
    "haasdonk_proposition_2",
    "hull_diagnosis",
    "hull_to_svm",
    "kernels",
    "krein_certificate",
    "limit_study",
    "lin_lin_theorem_1",
    "references",
    "shift_threshold",
    "solve",
    "solve_path",
    "solvers",
    "svm_to_hull",
    "verify",
]


def formulations() -> list[str]:
    """Names of the formulations."""
    return sorted(_formulations.known())


def baselines() -> list[str]:
    """Names of the baselines that `compare` puts beside the formulations."""
    return sorted(_baselines.known())


def __getattr__(name: str) -> Any:
    """Formulations and baselines by name; they are found in their folders, not listed here."""
    if name[:1].isupper():
        for found in (_formulations.known(), _baselines.known()):
            if name in found:
                return found[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *_formulations.known(), *_baselines.known()])
