"""Classes with the interface of scikit-learn.

`KernelClassifier`, `KernelRegressor` and `KernelOutlierDetector` train any formulation or baseline
of their task. `IndefiniteSVC`, `IndefiniteSVR` and `IndefiniteOneClassSVM` stand in for `SVC`,
`SVR` and `OneClassSVM`. `PseudoEuclideanEmbedding` and `SpectrumTransformer` are steps of a
pipeline. All pass scikit-learn's own checks of estimators.
"""

from indefinite_opt.estimators.kernel_classifier import KernelClassifier
from indefinite_opt.estimators.kernel_outlier_detector import KernelOutlierDetector
from indefinite_opt.estimators.kernel_regressor import KernelRegressor
from indefinite_opt.estimators.one_class_svm import IndefiniteOneClassSVM
from indefinite_opt.estimators.svc import IndefiniteSVC
from indefinite_opt.estimators.svr import IndefiniteSVR
from indefinite_opt.estimators.transformers import PseudoEuclideanEmbedding, SpectrumTransformer

__all__ = [
    "IndefiniteOneClassSVM",
    "IndefiniteSVC",
    "IndefiniteSVR",
    "KernelClassifier",
    "KernelOutlierDetector",
    "KernelRegressor",
    "PseudoEuclideanEmbedding",
    "SpectrumTransformer",
]
