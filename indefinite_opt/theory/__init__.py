"""Theorems of the papers, checked on given data; public as `indefinite_opt.theory`.

Each function returns numbers; the pages under `docs/theory` say what they mean.
Haasdonk (2005): hulls, suitability, Lemma 5, Proposition 2. Lin & Lin (2003): Theorem 1 and the
analysis of the sigmoid kernel. Loosli et al. (2013): certificates in Krein spaces, Proposition 3.1.
Peng & Wei (2007): brackets of kernel k-means.
"""

from indefinite_opt.modeling import UnboundedRay
from indefinite_opt.problem import Embedding, embed
from indefinite_opt.theory.hulls import (
    HullPoint,
    SVMPoint,
    Uniqueness,
    haasdonk_lemma_5,
    hull_to_svm,
    svm_to_hull,
)
from indefinite_opt.theory.k_means import KernelKMeans, kernel_k_means
from indefinite_opt.theory.krein import KreinCertificate, krein_certificate, loosli_proposition_3_1
from indefinite_opt.theory.lifting import Lift, Lifted, haasdonk_proposition_2, lin_lin_theorem_1
from indefinite_opt.theory.numbers import LeastEigenvalue
from indefinite_opt.theory.sigmoid import (
    ShiftThreshold,
    SigmoidAnalysis,
    analyse_sigmoid,
    shift_threshold,
)
from indefinite_opt.theory.suitability import Diagnosis, diagnose
from indefinite_opt.theory.unbounded import is_bounded, unbounded_ray

__all__ = [
    "Diagnosis",
    "Embedding",
    "HullPoint",
    "KernelKMeans",
    "KreinCertificate",
    "LeastEigenvalue",
    "Lift",
    "Lifted",
    "SVMPoint",
    "ShiftThreshold",
    "SigmoidAnalysis",
    "UnboundedRay",
    "Uniqueness",
    "analyse_sigmoid",
    "diagnose",
    "embed",
    "haasdonk_lemma_5",
    "haasdonk_proposition_2",
    "hull_to_svm",
    "is_bounded",
    "kernel_k_means",
    "krein_certificate",
    "lin_lin_theorem_1",
    "loosli_proposition_3_1",
    "shift_threshold",
    "svm_to_hull",
    "unbounded_ray",
]
