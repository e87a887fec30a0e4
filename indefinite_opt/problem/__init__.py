"""From raw data to a kernel matrix with labels, and its spectrum.

Every formulation is applied to a `KernelProblem`, or to its variant for directed confidences,
`ConfidenceProblem`. Both are made from kernels and data sets; eigendecompositions and
pseudo-Euclidean embeddings are derived from them.
"""

from indefinite_opt.foundation import checked_points
from indefinite_opt.problem import datasets, kernels
from indefinite_opt.problem.confidence_problem import ConfidenceProblem, own_sensitivity
from indefinite_opt.problem.datasets.encoding import Encoding, as_text
from indefinite_opt.problem.datasets.reading import in_order, read_frame, read_grid, read_labels
from indefinite_opt.problem.embedding import Embedding, embed
from indefinite_opt.problem.kernel_matrix import RowGram, remarks
from indefinite_opt.problem.kernel_problem import KernelProblem, Split, check_problem
from indefinite_opt.problem.kernels import Kernel, Sigmoid
from indefinite_opt.problem.symbols import KernelFactor
from indefinite_opt.quadratic import Spectrum
