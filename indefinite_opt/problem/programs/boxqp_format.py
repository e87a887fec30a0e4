"""The format `.in` of the public library of box-constrained programs.

The file holds the number n, the n numbers of c and the n² numbers of Q, separated by white space,
and stands for

    maximize  ½ xᵀQ x + cᵀx   subject to  0 ≤ x ≤ 1,

which the readme of the library says in these letters [B]_. Here it becomes the minimisation of the
negative, with `sense` -1.

References
----------
.. [B] S. Burer, BoxQP instances, https://github.com/sburer/BoxQP_instances: those of Vandenbussche
   and Nemhauser (2005) and of Burer and Vandenbussche (2009).
"""

from __future__ import annotations

import numpy as np

from indefinite_opt.errors import DataError
from indefinite_opt.problem.programs.arrays import MAX_ENTRIES, QuadraticArrays, quadratic_arrays
from indefinite_opt.problem.programs.tokens import content_of, number, written


def read_boxqp(content: bytes, source: str) -> QuadraticArrays:
    """The program of a file's content; `DataError` if it is not of this format."""
    words = content.split()
    expected = "a number n of variables, n linear coefficients and n by n quadratic ones"
    if not words:
        raise DataError(source, expected, "an empty file")
    n = number(words[0], source)
    if n != int(n) or not 1 <= n <= MAX_ENTRIES**0.5:
        raise DataError(source, f"1 to {int(MAX_ENTRIES**0.5)} variables first", f"{n:g}")
    n = int(n)
    if len(words) != 1 + n + n * n:
        raise DataError(source, f"{expected}, {1 + n + n * n} numbers for n = {n}", f"{len(words)}")
    numbers = np.array([number(word, source) for word in words[1:]])
    Q = numbers[n:].reshape(n, n)
    return quadratic_arrays(-Q, -numbers[:n], lb=0.0, ub=1.0, sense=-1)


def write_boxqp(program: QuadraticArrays, target: str) -> bytes:
    """The content of a file; `DataError` for other bounds than 0 and 1, for rows or a constant."""
    faults = {
        "rows": len(program.h) + len(program.b) > 0,
        "other bounds": np.any(program.lb != 0.0) or np.any(program.ub != 1.0),
        "a constant": program.constant != 0.0,
    }
    unfit = [fault for fault, there in faults.items() if there]
    if unfit:
        raise DataError(
            target, "a program without rows and a constant, with bounds 0 and 1",
            f"one with {' and '.join(unfit)}", "Write it as .qplib or .npz.",
        )  # fmt: skip
    lines = [[float(program.n)], -program.q, *-program.P]
    return content_of(" ".join(map(written, line)) for line in lines)
