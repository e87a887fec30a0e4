"""Theorems of the papers, checked on given data; public as `indefinite_opt.theory`.

Haasdonk (2005): hulls, suitability, Lemma 5, Proposition 2. Lin & Lin (2003): Theorems 1 and 3 and
the analysis of the sigmoid kernel with its limits. Loosli et al. (2013): certificates in Krein
spaces, Proposition 3.1.
"""

from indefinite_opt.problem import Embedding, embed
from indefinite_opt.theory.definite_shift import DefiniteShift, lin_lin_theorem_3
from indefinite_opt.theory.hulls import (
    HullPoint,
    SVMPoint,
    Uniqueness,
    haasdonk_lemma_5,
    hull_to_svm,
    svm_to_hull,
)
from indefinite_opt.theory.krein import KreinCertificate, krein_certificate, loosli_proposition_3_1
from indefinite_opt.theory.lifting import Lift, Lifted, haasdonk_proposition_2, lin_lin_theorem_1
from indefinite_opt.theory.sigmoid import analyse_sigmoid, shift_threshold
from indefinite_opt.theory.sigmoid_limits import LimitStudy, NormalisedSigmoid, limit_study
from indefinite_opt.theory.sigmoid_statement import LeastEigenvalue, ShiftThreshold, SigmoidAnalysis
from indefinite_opt.theory.suitability import Diagnosis, HullDiagnosis, diagnose, hull_diagnosis

__all__ = [
    "DefiniteShift",
    "Diagnosis",
    "Embedding",
    "HullDiagnosis",
    "HullPoint",
    "KreinCertificate",
    "LeastEigenvalue",
    "Lift",
    "Lifted",
    "LimitStudy",
    "NormalisedSigmoid",
    "SVMPoint",
    "ShiftThreshold",
    "SigmoidAnalysis",
    "Uniqueness",
    "analyse_sigmoid",
    "diagnose",
    "embed",
    "haasdonk_lemma_5",
    "haasdonk_proposition_2",
    "hull_diagnosis",
    "hull_to_svm",
    "krein_certificate",
    "limit_study",
    "lin_lin_theorem_1",
    "lin_lin_theorem_3",
    "loosli_proposition_3_1",
    "shift_threshold",
    "svm_to_hull",
]
