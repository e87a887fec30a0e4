"""Programs of any objective in which every variable is in at most one equality constraint."""

from __future__ import annotations

from indefinite_opt.foundation import Array
from indefinite_opt.quadratic.programs.paired_box import PairedBox
from indefinite_opt.quadratic.programs.program import VectorProgram


class PairedProgram(VectorProgram):
    """min F(x) on a `PairedBox`."""

    feasible: PairedBox

    def start(self) -> Array:
        return self.feasible.start()
