"""Structures as HiGHS models, their matrices passed at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.modeling.structures.linear_program import LinearProgram
from indefinite_opt.modeling.structures.quadratic_program import BoxLineQP

__all__ = ["highs_model", "new_highs"]

Array = NDArray[np.float64]


def new_highs() -> Any:
    """A silent HiGHS instance."""
    import highspy

    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    return highs


def highs_model(structure: BoxLineQP | LinearProgram, *, convexified: bool = False) -> Any:
    """A HiGHS instance holding the model in its declared sense.

    Parameters
    ----------
    structure : BoxLineQP or LinearProgram
    convexified : bool
        Use `BoxLineQP.convexified`, minimised; only then may the quadratic model be solved.
        HiGHS looks at nothing but the diagonal of a Hessian and calls the maximiser optimal.
    """
    if isinstance(structure, LinearProgram):
        return _linear(structure)
    return _quadratic(structure, convexified)


def _linear(program: LinearProgram) -> Any:
    matrix = program.matrix
    if isinstance(matrix, np.ndarray):
        # Every entry of a dense matrix is passed: looking for zeros costs more than it saves.
        height, width = matrix.shape
        columns = np.tile(np.arange(width), height)
        compressed = (np.arange(height + 1) * width, columns, matrix.ravel())
    else:
        compressed = (matrix.indptr, matrix.indices, matrix.data)
    return _pass(
        program.sense,
        program.sense * program.cost,
        (program.lower, program.upper),
        (program.row_lower, program.row_upper),
        compressed,
    )


def _quadratic(qp: BoxLineQP, convexified: bool) -> Any:
    import highspy

    if convexified:
        hessian, linear, offset = qp.convexified()
        sense = 1
    else:
        hessian, linear, offset = qp.H(), np.full(qp.n, qp.linear), 0.0
        sense = qp.sense
    rows = np.arange(qp.lines + 1) * qp.n
    model = _pass(
        sense,
        sense * linear,
        (np.zeros(qp.n), np.full(qp.n, qp.upper)),
        (qp.b, qp.b),
        (rows, np.tile(np.arange(qp.n), qp.lines), qp.A.ravel()),
        sense * (offset + qp.constant),
    )
    # Column-wise lower triangle.
    row, column = np.tril_indices(qp.n)
    order = np.lexsort((row, column))
    starts = np.concatenate([[0], np.cumsum(np.arange(qp.n, 0, -1))])
    model.passHessian(
        qp.n,
        row.size,
        highspy.HessianFormat.kTriangular,
        starts.astype(np.int32),
        row[order].astype(np.int32),
        sense * hessian[row[order], column[order]],
    )
    return model


def _pass(
    sense: int,
    cost: Array,
    columns: tuple[Array, Array],
    rows: tuple[Array, Array],
    matrix: tuple[NDArray[Any], NDArray[Any], Array],
    offset: float = 0.0,
) -> Any:
    import highspy

    starts, indices, entries = matrix
    highs = new_highs()
    direction = highspy.ObjSense.kMinimize if sense > 0 else highspy.ObjSense.kMaximize
    highs.passModel(
        cost.size, rows[0].size, entries.size, int(highspy.MatrixFormat.kRowwise), int(direction),
        offset, cost, *columns, *rows,
        starts.astype(np.int32), indices.astype(np.int32), entries,
        np.zeros(cost.size, np.int32),
    )  # fmt: skip
    return highs
