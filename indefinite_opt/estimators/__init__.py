"""Classes with the interface of scikit-learn.

`KernelClassifier` trains any formulation or baseline, `IndefiniteSVC` stands in for `SVC`, and
`PseudoEuclideanEmbedding` and `SpectrumTransformer` are steps of a pipeline. All pass
scikit-learn's own checks of estimators.
"""

from indefinite_opt.estimators.kernel_classifier import KernelClassifier
from indefinite_opt.estimators.svc import IndefiniteSVC
from indefinite_opt.estimators.transformers import PseudoEuclideanEmbedding, SpectrumTransformer

__all__ = ["IndefiniteSVC", "KernelClassifier", "PseudoEuclideanEmbedding", "SpectrumTransformer"]
