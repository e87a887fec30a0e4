"""Models as files that other solvers read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from indefinite_opt.errors import DataError
from indefinite_opt.modeling.linear_programs.to_highs import highs_model
from indefinite_opt.modeling.structures.structure import Structure

__all__ = ["write_model"]


def write_model(structure: Structure[Any], path: Path) -> Path:
    """Write a model in its declared sense.

    .lp and .mps are written by HiGHS, quadratic terms included. .npz holds arrays under the names
    in min ½xᵀHx + qᵀx s.t. Ax = b, lower ≤ x ≤ upper for a quadratic program, and under those in
    min costᵀx s.t. row_lower ≤ Ax ≤ row_upper, lower ≤ x ≤ upper for a linear one; `sense` is -1 if
    the declared problem maximises the negative of that objective. Problems that are neither can be
    written as .npz only, which then holds their data under the names of the papers.

    Raises
    ------
    DataError
        For another suffix, one that cannot hold the model, or a file that cannot be written.
    """
    if path.suffix not in (".lp", ".mps", ".npz"):
        raise DataError("path", "a file name ending in .lp, .mps or .npz", str(path))
    form = None if path.suffix == ".npz" else structure.standard_form()
    if form is None and path.suffix != ".npz":
        raise DataError(
            "path", "a file name ending in .npz", str(path),
            "This problem is neither linear nor quadratic.",
        )  # fmt: skip
    try:
        # HiGHS only prints a message when it cannot open a file, so that is tested first.
        with path.open("wb"):
            pass
    except OSError as error:
        raise DataError("path", "a file that can be written", f"{path}: {error.strerror}") from None
    if form is None:
        with path.open("wb") as file:
            # mypy assumes that one of the names might be allow_pickle.
            np.savez_compressed(file, **structure.arrays())  # type: ignore[arg-type]
    else:
        highs_model(form).writeModel(str(path))
    return path
