"""Many problems, formulations and solvers at once.

`compare` cross-validates formulations and baselines side by side; `reference_library` holds
problems with certified optima, against which solvers can be checked.
"""

from indefinite_opt.studies import baselines, reference_library
from indefinite_opt.studies.comparison import Comparison, compare, warm_up

__all__ = ["Comparison", "baselines", "compare", "reference_library", "warm_up"]
