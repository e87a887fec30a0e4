"""Programs with a kernel matrix, as solvers read them, each kind in its own file.

What certificates ask of a kind are its methods, if it derives from `ExplicitProgram`, or answers
that it registers with the functions of `quadratic.answers`. Quadratic programs in signed weights
are `PairedQP`s; linear programs are in `modeling.linear_programs`.
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
