"""One file per formulation, in the notation of its paper.

Every concrete `Formulation` in this folder is discovered automatically; those of the package are
also listed here for editors and type checkers.
"""

from __future__ import annotations

import functools

from indefinite_opt.formulations.as_kls import AsKLS
from indefinite_opt.formulations.bilinear_svm import BilinearSVM
from indefinite_opt.formulations.convex_hull_dual import ConvexHullDual
from indefinite_opt.formulations.convex_hull_primal import ConvexHullPrimal
from indefinite_opt.formulations.dominant_set import DominantSet
from indefinite_opt.formulations.epsilon_svr import EpsilonSVR
from indefinite_opt.formulations.esvm import ESVM
from indefinite_opt.formulations.guo_schuurmans_lp import GuoSchuurmansLP
from indefinite_opt.formulations.guo_schuurmans_qp import GuoSchuurmansQP
from indefinite_opt.formulations.kernel_fisher import KernelFisher
from indefinite_opt.formulations.kernel_logistic import KernelLogistic
from indefinite_opt.formulations.ksvm import KSVM
from indefinite_opt.formulations.l2_svm import L2SVM
from indefinite_opt.formulations.laplacian_svm import LaplacianSVM
from indefinite_opt.formulations.learned_kernel import LearnedKernel
from indefinite_opt.formulations.least_squares_svm import LeastSquaresSVM
from indefinite_opt.formulations.lp_svm import LPSVM
from indefinite_opt.formulations.luss_ball import LussBall
from indefinite_opt.formulations.luss_dual import LussDual
from indefinite_opt.formulations.mixed_norm_svm import MixedNormSVM
from indefinite_opt.formulations.multiple_kernel_svm import MultipleKernelSVM
from indefinite_opt.formulations.nearest_kernel import NearestKernel
from indefinite_opt.formulations.noisy_lp_svm import NoisyLPSVM
from indefinite_opt.formulations.nu_svm import NuSVM
from indefinite_opt.formulations.nu_svr import NuSVR
from indefinite_opt.formulations.one_class_lp import OneClassLP
from indefinite_opt.formulations.one_class_svm import OneClassSVM
from indefinite_opt.formulations.peng_wei import PengWei
from indefinite_opt.formulations.pseudo_euclidean_primal import PseudoEuclideanPrimal
from indefinite_opt.formulations.quantile_regression import QuantileRegression
from indefinite_opt.formulations.ranking_svm import RankingSVM
from indefinite_opt.formulations.separability_svm import SeparabilitySVM
from indefinite_opt.formulations.spectrum_svm import SpectrumSVM
from indefinite_opt.formulations.svdd import SVDD
from indefinite_opt.formulations.svdd_neg import SVDDneg
from indefinite_opt.formulations.svm_dual import SVMDual
from indefinite_opt.formulations.uniform_weights import UniformWeights
from indefinite_opt.foundation import as_instance, discover, instantiate, of_user_code
from indefinite_opt.modeling import Formulation


def named_formulation(title: str) -> Formulation:
    """The formulation of this package that a title names, with its parameters.

    >>> named_formulation("SVMDual(C=2)")
    SVMDual(C=2, bias=True)
    """
    return instantiate("formulation", known(), title)


@functools.cache
def known() -> dict[str, type[Formulation]]:
    """Every formulation by name, in the order of the file names."""
    return {cls.__name__: cls for cls in discover(__name__, __path__, Formulation)}  # type: ignore[type-abstract]


def available_formulations() -> list[str]:
    """Names of the formulations.

    >>> "SVMDual" in available_formulations()
    True
    """
    return sorted(known())


def as_formulation(formulation: Formulation | type[Formulation] | str) -> Formulation:
    """The formulation of an object, a class, or a name with parameters.

    A name may refer to a class in the code of a user, `mine.py:MyDual(C=1)`, and this code is run.
    Titles that are read from a file go to `named_formulation` instead.
    """
    if isinstance(formulation, str):
        return of_user_code("formulation", formulation, Formulation) or named_formulation(
            formulation
        )
    told = "A baseline is trained by its own fit(problem), by compare or by KernelClassifier."
    hint = told if hasattr(formulation, "fit") else ""
    return as_instance("formulation", Formulation, known(), formulation, hint)  # type: ignore[type-abstract]
