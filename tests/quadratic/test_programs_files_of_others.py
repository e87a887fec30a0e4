"""Files as other programs write them: what HiGHS reads in the same file, or what was done by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import indefinite_opt as iopt
from indefinite_opt.errors import DataError


def read(path: Path, content: str | bytes, **options: Any) -> iopt.QuadraticProgram:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return iopt.QuadraticProgram.read(path, **options)


def by_highs(path: Path) -> Any:
    """The program that HiGHS reads in a file."""
    highspy = pytest.importorskip("highspy")
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    assert highs.readModel(str(path)) == highspy.HighsStatus.kOk
    return highs.getModel().lp_


def assert_same(qp: iopt.QuadraticProgram, theirs: Any) -> None:
    """Names, costs, bounds and rows are those of a program of HiGHS; free rows are left out."""
    names = list(theirs.col_names_)
    assert list(qp.names.variables) == names
    assert list(qp.q) == list(theirs.col_cost_)
    assert (list(qp.lb), list(qp.ub)) == (list(theirs.col_lower_), list(theirs.col_upper_))
    starts, rows = list(theirs.a_matrix_.start_), np.zeros((theirs.num_row_, len(names)))
    for j in range(len(names)):
        part = slice(starts[j], starts[j + 1])
        rows[list(theirs.a_matrix_.index_)[part], j] = list(theirs.a_matrix_.value_)[part]
    low, high = np.array(theirs.row_lower_), np.array(theirs.row_upper_)
    equal = low == high
    above, below = np.isfinite(high) & ~equal, np.isfinite(low) & ~equal
    one_sided = [*zip(rows[above], high[above], strict=True)]
    one_sided += zip(-rows[below], -low[below], strict=True)

    def listed(pairs: Any) -> list[tuple[list[float], float]]:
        return sorted(((row + 0.0).tolist(), float(side)) for row, side in pairs)

    assert listed(zip(qp.G, qp.h, strict=True)) == listed(one_sided)
    equations = zip(rows[equal], high[equal], strict=True)
    assert listed(zip(qp.A, qp.b, strict=True)) == listed(equations)


# --- .lp -----------------------------------------------------------------------------------

BOUNDS = [
    ["0 <= x <= 4"], ["-inf <= x <= 5"], ["x >= 1"], ["x >= 1", "y <= 3"], ["x free", "y free"],
    ["0.5 <= x <= 3", "-0.25 <= y <= 0.25"], ["-inf <= x <= 5", "y >= -2", "y <= 7"],
    ["x <= 3", "-inf <= y"], ["x = 2", "1 <= y <= 1e30"], ["x >= -1e30", "x <= 2", "+1 <= y"],
    ["x <= 2", "-infinity <= y <= +inf"], ["y Free", "x <= 5", "x >= 2"], ["2 >= x", "y >= .5"],
]  # fmt: skip


@pytest.mark.parametrize("blank", [" ", "\n", "\n\n  "])
@pytest.mark.parametrize("bounds", BOUNDS)
def test_bounds_that_follow_one_another(bounds: list[str], blank: str, tmp_path: Path) -> None:
    """HiGHS, which wants a line for each, reads them one below the other."""
    before = "Minimize\n obj: x - y\nSubject To\n c: x + y >= -9\nBounds\n "
    qp = read(tmp_path / "a.lp", f"{before}{blank.join(bounds)}\nEnd\n")
    read(tmp_path / "b.lp", before + "\n ".join(bounds) + "\nEnd\n")
    assert_same(qp, by_highs(tmp_path / "b.lp"))


def test_bounds_on_several_lines(tmp_path: Path) -> None:
    text = "min\n x + y\nbounds\n -1 <=\n x\n<= 2 y\n>= 1 3 >= y\nend\n"
    qp = read(tmp_path / "a.lp", text)
    assert (list(qp.lb), list(qp.ub)) == ([-1.0, 1.0], [2.0, 3.0])


def test_constraints_with_labels_that_follow_one_another(tmp_path: Path) -> None:
    rows = ["a: x + y >= 1", "b: x - y <= 2", "c: x = 3"]
    before, after = "min\n o: x + y\nst\n ", "\nbounds\n x <= 9\nend\n"
    qp = read(tmp_path / "a.lp", before + " ".join(rows) + after)
    read(tmp_path / "b.lp", before + "\n ".join(rows) + after)
    assert_same(qp, by_highs(tmp_path / "b.lp"))
    assert (qp.names.inequalities, qp.names.equalities) == (("b", "a"), ("c",))


@pytest.mark.parametrize(
    ("bounds", "words"),
    [
        ("x <= 3 <= y", "a bound such as 0 <= x <= 1, got '<= y'"),
        ("0 <= x <= 4 5", "a bound such as"),
        ("x free <= 3", "a bound such as"),
        ("x <= 3 y", "a bound such as"),
        ("x freed", "a bound such as"),
        ("x <= 3y", "a bound such as"),
    ],
)
def test_bounds_that_are_none(bounds: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=words):
        read(tmp_path / "a.lp", f"min\n x + y\nbounds\n {bounds}\nend\n")
