"""Problems as solvers read them: quadratic programs on a box, linear programs, and others.

Each kind has a file, and all have one interface: objective, residual, multipliers and bound.
"""

from indefinite_opt.modeling.programs.krein import (
    Stabilised,
    stabilise,
    stabilised_symbols,
)
from indefinite_opt.modeling.programs.logistic import LogisticPoint, LogisticProgram
from indefinite_opt.modeling.programs.proxy_kernel import (
    ProxyDual,
    ProxyEigen,
    ProxyOracle,
    ProxyPoint,
)
from indefinite_opt.modeling.programs.pseudo_euclidean import (
    LiftedHulls,
    LiftedPrimal,
    SpacePrimal,
)
from indefinite_opt.modeling.programs.separability import SeparabilityProgram
from indefinite_opt.modeling.programs.signed_weights import signed_qp
