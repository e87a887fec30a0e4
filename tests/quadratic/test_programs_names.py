"""Names of variables and rows: through files, in messages, and beside values and multipliers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import indefinite_opt as iopt
from indefinite_opt.errors import InfeasibleProblem, ParameterError, ProblemError, UnboundedProblem

NAMED: dict[str, Any] = {
    "variables": ["tea", "milk"], "inequalities": ["money", "shelf"], "equalities": ["mix"],
}  # fmt: skip


def program(**others: Any) -> iopt.QuadraticProgram:
    """min -3 tea - milk with 1 tea + 2 milk ≤ 4, tea ≤ 9 (a row) and tea = 2 milk."""
    rows: dict[str, Any] = {
        "G": [[1.0, 2.0], [1.0, 0.0]], "h": [4.0, 9.0], "A": [[1.0, -2.0]], "b": [0.0], "lb": 0.0,
    }  # fmt: skip
    return iopt.QuadraticProgram(q=[-3.0, -1.0], **(rows | NAMED | others))


@pytest.mark.parametrize("ending", ["lp", "mps", "npz", "qplib", "lp.gz"])
def test_files_keep_names(tmp_path: Path, ending: str) -> None:
    path = program().write(tmp_path / f"file.{ending}")
    assert iopt.QuadraticProgram.read(path).names == program().names


@pytest.mark.parametrize(
    "name", ["x[0]", "a b", "e5", "Free", "END", "objective", "3x", "ü", "Marker", "RHS", "NAME"]
)
def test_names_that_a_format_cannot_hold_are_numbered(tmp_path: Path, name: str) -> None:
    qp = program(variables=[name, "milk"], inequalities=[name, "money"])
    read = {
        ending: iopt.QuadraticProgram.read(qp.write(tmp_path / f"file.{ending}"))
        for ending in ("lp", "mps", "qplib", "npz")
    }
    for ending in ("lp", "mps"):
        assert read[ending].names == (("x1", "x2"), ("r1", "r2"), ("r3",))
        np.testing.assert_array_equal(read[ending].G, qp.G)
    assert read["qplib"].names.variables == (() if " " in name else (name, "milk"))
    assert read["npz"].names == qp.names


def test_a_row_with_two_sides_becomes_two_that_are_named(tmp_path: Path) -> None:
    text = "minimize\n x\nsubject to\n fat: 1 <= x + y <= 3\n iron: x - y = 1\nend\n"
    (tmp_path / "diet.lp").write_text(text)
    qp = iopt.QuadraticProgram.read(tmp_path / "diet.lp")
    assert qp.names == (("x", "y"), ("fat", "fat_lower"), ("iron",))
    assert (qp.G.tolist(), qp.h.tolist()) == ([[1, 1], [-1, -1]], [3, -1])


def test_names_that_a_file_gives_twice_name_nothing(tmp_path: Path) -> None:
    """Of a .qplib file the second variable has the default name x2, which the first one took."""
    lines = ["box", "LCB", "minimize", "2", "1", "0", "0", "1e30", "0", "0", "1", "0", "0", "0"]
    (tmp_path / "a.qplib").write_text("\n".join([*lines, "0", "0", "1", "1 x2", "0", ""]))
    assert iopt.QuadraticProgram.read(tmp_path / "a.qplib").names == ((), (), ())
    (tmp_path / "b.lp").write_text("minimize\n x\nsubject to\n a: x <= 3\n a: x >= 1\nend\n")
    assert iopt.QuadraticProgram.read(tmp_path / "b.lp").names == (("x",), (), ())


def test_rows_without_labels_have_no_names(tmp_path: Path) -> None:
    (tmp_path / "diet.lp").write_text("minimize\n x\nsubject to\n fat: x <= 3\n y <= 2\nend\n")
    assert iopt.QuadraticProgram.read(tmp_path / "diet.lp").names == (("x", "y"), (), ())
    assert program(h=[np.inf, 9.0]).names.inequalities == ("shelf",)  # the other one always holds


def test_values_and_multipliers_by_name() -> None:
    """By hand: money binds at tea = 2, milk = 1; -3 + z + w = 0 and -1 + 2z - 2w = 0, z = 7/4."""
    qp = program()
    result = iopt.solve(qp)
    assert qp.named(result.values)["x"] == pytest.approx({"tea": 2.0, "milk": 1.0})
    multipliers = qp.named(result.certificate.multipliers)
    assert multipliers["inequalities"] == pytest.approx({"money": 1.75, "shelf": 0.0})
    assert multipliers["equalities"] == pytest.approx({"mix": 1.25})
    plain = program(variables=(), inequalities=(), equalities=())
    assert plain.named({"inequalities": np.ones(2), "x": np.zeros(2), "equalities": [3.0]}) == {
        "inequalities": {"G[0]": 1.0, "G[1]": 1.0}, "x": {"x[0]": 0.0, "x[1]": 0.0},
        "equalities": {"A[0]": 3.0},
    }  # fmt: skip
    for wrong in ({"y": [1.0]}, {"x": [1.0]}):
        with pytest.raises(ParameterError, match="values"):
            qp.named(wrong)


def test_errors_use_names() -> None:
    with pytest.raises(InfeasibleProblem, match="row money, lb of tea and lb of milk contradict"):
        iopt.solve(program(h=[-1.0, 9.0], A=None, b=None, equalities=()))
    with pytest.raises(InfeasibleProblem, match="lb of tea = 3, ub of tea = 2"):
        program(lb=[3.0, 0.0], ub=[2.0, 1.0])
    with pytest.raises(UnboundedProblem, match="1 in tea"):
        iopt.solve(iopt.QuadraticProgram(q=[-1.0, 0.0], lb=0.0, variables=["tea", "milk"]))


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ({"variables": ["tea"]}, "variables: expected 2 names that differ, got 1"),
        ({"variables": ["tea", "tea"]}, "'tea' twice"),
        ({"inequalities": ["a", 3]}, "inequalities"),
        ({"inequalities": "ab"}, "inequalities: expected 2 names that differ, got 1"),
        (
            {"equalities": ["money"]},
            "equalities: expected names that differ from those of inequalities",
        ),
    ],
)
def test_wrong_names(names: dict[str, Any], message: str) -> None:
    with pytest.raises(ProblemError, match=message):
        program(**names)


def test_rows_of_cvxpy_have_labels() -> None:
    x, y = cp.Variable(2, name="x"), cp.Variable(name="y")
    rows = [(cp.sum(x) + y <= 3).set_label("sum"), x + y >= 0, x[0] - y == 1]
    qp = iopt.QuadraticProgram.from_cvxpy(cp.Problem(cp.Minimize(y), rows))
    assert qp.names == (
        ("x[0]", "x[1]", "y") if qp.names.variables[0].startswith("x") else ("y", "x[0]", "x[1]"),
        ("sum", "constraints[1][0]", "constraints[1][1]"),
        ("constraints[2]",),
    )
    twice = [(x[0] + y <= 1).set_label("a"), (x[1] + y <= 1).set_label("a"), y >= 0, x >= 0]
    qp = iopt.QuadraticProgram.from_cvxpy(cp.Problem(cp.Minimize(y), twice))
    assert qp.names.inequalities == ("constraints[0]", "constraints[1]")
    z = cp.Variable(name="y")
    qp = iopt.QuadraticProgram.from_cvxpy(cp.Problem(cp.Minimize(y * z), [y + z <= 1]))
    assert set(qp.names.variables) == {f"var{y.id}", f"var{z.id}"}
