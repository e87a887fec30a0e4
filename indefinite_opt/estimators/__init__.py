"""Classes with the interface of scikit-learn.

`KernelClassifier` trains any formulation or baseline, `IndefiniteSVC` and `IndefiniteSVCCV` stand
in for `SVC`, and `KernelTransformer`, `PseudoEuclideanEmbedding` and `SpectrumTransformer` are
steps of a pipeline. All pass scikit-learn's own checks of estimators.
"""

from indefinite_opt.estimators.kernel_classifier import KernelClassifier
from indefinite_opt.estimators.svc import IndefiniteSVC, IndefiniteSVCCV
from indefinite_opt.estimators.transformers import (
    KernelTransformer,
    PseudoEuclideanEmbedding,
    SpectrumTransformer,
)

__all__ = [
    "IndefiniteSVC",
    "IndefiniteSVCCV",
    "KernelClassifier",
    "KernelTransformer",
    "PseudoEuclideanEmbedding",
    "SpectrumTransformer",
]
