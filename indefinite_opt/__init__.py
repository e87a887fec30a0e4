"""Optimization problems of learning with indefinite kernels.

The package declares them as the papers write them, solves them, and certifies and compares the
solutions.

>>> import indefinite_opt as iopt
>>> problem = iopt.KernelProblem([[1.0, -1.0], [-1.0, 1.0]], [1, -1])
>>> result = iopt.solve(problem, iopt.SVMDual(C=1.0))
>>> result.objective, result.certificate.claim.name
(0.5, 'GLOBAL')
"""

from __future__ import annotations

import importlib
import threading
from typing import TYPE_CHECKING, Any

from indefinite_opt import errors
from indefinite_opt.errors import IndefiniteOptError

if TYPE_CHECKING:  # loaded when it is first used, see `_LATER`
    from indefinite_opt import figures, theory
    from indefinite_opt.estimators import (
        IndefiniteOneClassSVM,
        IndefiniteSVC,
        IndefiniteSVR,
        KernelClassifier,
        KernelOutlierDetector,
        KernelRegressor,
        PseudoEuclideanEmbedding,
        SpectrumTransformer,
    )
    from indefinite_opt.formulations import (
        ESVM,
        KSVM,
        L2SVM,
        LPSVM,
        SVDD,
        AsKLS,
        BilinearSVM,
        ConvexHullDual,
        ConvexHullPrimal,
        DominantSet,
        EpsilonSVR,
        GuoSchuurmansLP,
        GuoSchuurmansQP,
        KernelFisher,
        KernelLogistic,
        LaplacianSVM,
        LearnedKernel,
        LeastSquaresSVM,
        LussBall,
        LussDual,
        MixedNormSVM,
        MultipleKernelSVM,
        NearestKernel,
        NoisyLPSVM,
        NuSVM,
        NuSVR,
        OneClassLP,
        OneClassSVM,
        PengWei,
        PseudoEuclideanPrimal,
        QuantileRegression,
        RankingSVM,
        SeparabilitySVM,
        SpectrumSVM,
        SVDDneg,
        SVMDual,
        UniformWeights,
        available_formulations,
    )
    from indefinite_opt.modeling import Classifier, Formulation
    from indefinite_opt.problem import ConfidenceProblem, Kernel, KernelProblem, datasets, kernels
    from indefinite_opt.quadratic import Claim, QuadraticProgram, Solver, Status, depot
    from indefinite_opt.studies import compare
    from indefinite_opt.studies.baselines import (
        KNN,
        LIBSVM,
        LSSVM,
        RVM,
        Baseline,
        KernelRidge,
        KNNDistance,
        KNNRegression,
        available_baselines,
    )
    from indefinite_opt.workflow import (
        available_solvers,
        bound,
        check,
        load,
        show_versions,
        solve,
        solve_path,
        solve_qp,
    )
    from indefinite_opt.workflow.certificates import verify

__version__: str

__all__ = [
    "ESVM",
    "KNN",
    "KSVM",
    "L2SVM",
    "LIBSVM",
    "LPSVM",
    "LSSVM",
    "RVM",
    "SVDD",
    "AsKLS",
    "Baseline",
    "BilinearSVM",
    "Claim",
    "Classifier",
    "ConfidenceProblem",
    "ConvexHullDual",
    "ConvexHullPrimal",
    "DominantSet",
    "EpsilonSVR",
    "Formulation",
    "GuoSchuurmansLP",
    "GuoSchuurmansQP",
    "IndefiniteOneClassSVM",
    "IndefiniteOptError",
    "IndefiniteSVC",
    "IndefiniteSVR",
    "KNNDistance",
    "KNNRegression",
    "Kernel",
    "KernelClassifier",
    "KernelFisher",
    "KernelLogistic",
    "KernelOutlierDetector",
    "KernelProblem",
    "KernelRegressor",
    "KernelRidge",
    "LaplacianSVM",
    "LearnedKernel",
    "LeastSquaresSVM",
    "LussBall",
    "LussDual",
    "MixedNormSVM",
    "MultipleKernelSVM",
    "NearestKernel",
    "NoisyLPSVM",
    "NuSVM",
    "NuSVR",
    "OneClassLP",
    "OneClassSVM",
    "PengWei",
    "PseudoEuclideanEmbedding",
    "PseudoEuclideanPrimal",
    "QuadraticProgram",
    "QuantileRegression",
    "RankingSVM",
    "SVDDneg",
    "SVMDual",
    "SeparabilitySVM",
    "Solver",
    "SpectrumSVM",
    "SpectrumTransformer",
    "Status",
    "UniformWeights",
    "available_baselines",
    "available_formulations",
    "available_solvers",
    "bound",
    "check",
    "compare",
    "datasets",
    "depot",
    "errors",
    "figures",
    "kernels",
    "load",
    "show_versions",
    "solve",
    "solve_path",
    "solve_qp",
    "theory",
    "verify",
]


_LATER = {
    "formulations": "AsKLS BilinearSVM ConvexHullDual ConvexHullPrimal DominantSet ESVM EpsilonSVR "
    "GuoSchuurmansLP GuoSchuurmansQP KSVM KernelFisher KernelLogistic L2SVM LPSVM "
    "LaplacianSVM LearnedKernel LeastSquaresSVM LussBall LussDual MixedNormSVM "
    "MultipleKernelSVM NearestKernel NoisyLPSVM NuSVM NuSVR OneClassLP OneClassSVM "
    "PengWei PseudoEuclideanPrimal QuantileRegression RankingSVM SVDD SVDDneg SVMDual "
    "SeparabilitySVM SpectrumSVM UniformWeights available_formulations",
    "modeling": "Classifier Formulation",
    "problem": "ConfidenceProblem Kernel KernelProblem datasets kernels",
    "quadratic": "Claim QuadraticProgram Solver Status depot",
    "workflow": "available_solvers bound check load show_versions solve solve_path solve_qp",
    "workflow.certificates": "verify",
    "estimators": "IndefiniteOneClassSVM IndefiniteSVC IndefiniteSVR KernelClassifier "
    "KernelOutlierDetector KernelRegressor PseudoEuclideanEmbedding SpectrumTransformer",
    "studies": "compare",
    "studies.baselines": "KNN KNNDistance KNNRegression LIBSVM LSSVM RVM Baseline KernelRidge "
    "available_baselines",
}
"""Names by the folder that is imported when the first of them is used. Nothing is imported before,
so that `indefinite-opt --help` need not wait; scikit-learn takes a second by itself."""

_LOADING = threading.RLock()
"""One thread imports at a time: two that import folders of each other would block each other."""

_FOLDERS = (
    "algebra", "core", "estimators", "figures", "formulations", "foundation", "modeling", "problem",
    "quadratic", "solvers", "studies", "theory", "workflow",
)  # fmt: skip


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from indefinite_opt.foundation import version_of

        return version_of("indefinite_opt")
    with _LOADING:
        if name in _FOLDERS:
            return importlib.import_module(f"indefinite_opt.{name}")
        for folder, names in _LATER.items():
            if name in names.split():
                found = getattr(importlib.import_module(f"indefinite_opt.{folder}"), name)
                globals()[name] = found  # so that it is found at once from now on
                return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
