"""Private parts of the package that tests reach into, each with its reason; there are no others.

Whatever is listed here may change without notice: a test that needs one of them takes it from here.
"""

from __future__ import annotations

from indefinite_opt.solvers.descent import _loops as smo_loops

__all__ = ["smo_loops"]

# `smo_loops`: the compiled loops of the descent. They keep v, the weights and the decrease of F up
# to date by different sums, which a whole run recomputes before anybody could see an error.
