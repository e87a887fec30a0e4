"""What an installed wheel must do on every platform: run `python -P build_tools/smoke.py`.

It solves and certifies a small problem, proves the optimum of a nonconvex one, by each build of the
loops that this processor runs, and prints the versions. numpy, scipy and threadpoolctl suffice.
"""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np

import indefinite_opt as iopt
from indefinite_opt.core import library


def solved() -> str:
    """The proved optimum of a nonconvex program, with all of its digits."""
    problem = iopt.KernelProblem([[1.0, -1.0], [-1.0, 1.0]], [1, -1])
    result = iopt.solve(problem, iopt.SVMDual(C=1.0))
    assert result.objective == 0.5, result
    assert result.certificate.claim == iopt.Claim.GLOBAL, result.certificate
    half = np.random.default_rng(0).standard_normal((20, 20))
    nonconvex = iopt.KernelProblem(half + half.T, np.resize([1, -1], 20))
    proved = iopt.solve(nonconvex, iopt.SVMDual(C=1.0), prove=60)
    assert proved.certificate.claim == iopt.Claim.GLOBAL, proved.certificate
    assert abs(proved.objective - 60.0242301) < 1e-4, proved
    return float(proved.objective).hex()


def main() -> None:
    found = solved()
    if len(sys.argv) > 1:  # called by the lines below
        print(found)
        return
    environment = {**os.environ, library.VARIABLE: library.GENERIC}
    again = subprocess.check_output(
        [sys.executable, "-P", __file__, "again"], env=environment, text=True
    )
    assert again.strip() == found, (again, found)
    iopt.show_versions()


if __name__ == "__main__":
    main()
