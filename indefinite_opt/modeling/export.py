"""Models as files that other solvers read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.errors import DataError
from indefinite_opt.modeling.structures.proxy_kernel import ProxyStructure
from indefinite_opt.modeling.structures.quadratic_program import BoxLineQP, Structure
from indefinite_opt.modeling.structures.structure import ExplicitProgram
from indefinite_opt.modeling.to_highs import highs_model

__all__ = ["write_model"]


def write_model(structure: Structure, path: Path) -> Path:
    """Write a model in its declared sense.

    .lp and .mps are written by HiGHS, quadratic terms included. .npz holds, for a quadratic
    program min ½xᵀHx + qᵀx s.t. Ax = b, lower ≤ x ≤ upper, the arrays of these names, and for a
    linear one min costᵀx s.t. row_lower ≤ Ax ≤ row_upper, lower ≤ x ≤ upper those; `sense` is -1
    where the declared objective is the negative of that, maximised. Other problems are
    neither: only .npz takes them, as their data under the names of the papers.

    Raises
    ------
    DataError
        For another suffix, one that cannot hold the model, or a file that cannot be written.
    """
    if path.suffix not in (".lp", ".mps", ".npz"):
        raise DataError("path", "a file name ending in .lp, .mps or .npz", str(path))
    if isinstance(structure, ProxyStructure | ExplicitProgram) and path.suffix != ".npz":
        raise DataError(
            "path", "a file name ending in .npz", str(path),
            "This problem is neither linear nor quadratic.",
        )  # fmt: skip
    try:
        # HiGHS writes to standard output when it cannot open a file: find out before.
        with path.open("wb"):
            pass
    except OSError as error:
        raise DataError("path", "a file that can be written", f"{path}: {error.strerror}") from None
    if path.suffix == ".npz":
        with path.open("wb") as file:
            # To mypy any of the names could be the switch allow_pickle; none is.
            np.savez_compressed(file, **_arrays(structure))  # type: ignore[arg-type]
    elif not isinstance(structure, ProxyStructure | ExplicitProgram):
        highs_model(structure).writeModel(str(path))
    return path


def _arrays(structure: Structure) -> dict[str, NDArray[np.float64]]:
    if isinstance(structure, BoxLineQP):
        n = structure.n
        return {
            "H": structure.H(),
            "q": np.full(n, structure.linear),
            "A": structure.A,
            "b": structure.b,
            "lower": np.zeros(n),
            "upper": np.full(n, structure.upper),
            "sense": np.array(float(structure.sense)),
        }
    if isinstance(structure, ProxyStructure | ExplicitProgram):
        return structure.arrays()
    matrix = structure.matrix
    return {
        "cost": structure.cost,
        "A": matrix if isinstance(matrix, np.ndarray) else matrix.toarray(),
        "row_lower": structure.row_lower,
        "row_upper": structure.row_upper,
        "lower": structure.lower,
        "upper": structure.upper,
        "sense": np.array(float(structure.sense)),
    }
