"""Private parts of the package that tests reach into, each with its reason; there are no others.

Whatever stands here may change without notice: a test that needs one of them takes it from here.
"""

from __future__ import annotations

import sys

import pytest

from indefinite_opt.core import descent as descent_loops
from indefinite_opt.core import perturbation as perturbation_loops
from indefinite_opt.core import rank_one
from indefinite_opt.core import relaxation as relaxation_loops

__all__ = ["descent_loops", "perturbation_loops", "rank_one", "relaxation_loops"]

# `descent_loops`, `perturbation_loops`: the compiled loops of the descent and the search. They keep
# v, the weights and the decrease of F up to date by different sums, and a whole run computes these
# afresh before an error could show.
# `relaxation_loops`: the violated triangle inequalities and the partial products of the relaxation,
# whose errors would only make bounds weaker, which no test of a bound can see.
# `rank_one`: the roots of the secular equation, to a few units in the last place; in the
# eigenvalues that are public they are mixed with the rounding of everything else.


def long_from(monkeypatch: pytest.MonkeyPatch, order: int) -> None:
    """Work on matrices of this order counts as long: it does not begin without time."""
    for name, module in list(sys.modules.items()):
        if name.startswith("indefinite_opt.") and "LONG" in vars(module):
            monkeypatch.setattr(module, "LONG", order)


INTERRUPT_AT_THE_END_OF_A_DESCENT = """
import os, signal
from indefinite_opt.quadratic.local.search import pair_search
finish = pair_search.LocalSearch._settle
def settle(self):
    os.kill(os.getpid(), signal.SIGINT)
    finish(self)
pair_search.LocalSearch._settle = settle
"""
"""Code for another process, whose Ctrl-C has to come in the middle of its work."""
