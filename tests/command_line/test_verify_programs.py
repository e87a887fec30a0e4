"""`verify program point`: quadratic programs in files, with points of any source."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import indefinite_opt as iopt
from helpers.commands import complaint, printed, run, strict

POINT = [0.0, 4.0]
"""max x₀ + 2x₁ - ½x₀² for x₀ + x₁ ≤ 4, 0 ≤ x ≤ 10: the slopes 1 and 2 make it 8."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program in every format that holds it, and points in every form."""
    folder = tmp_path_factory.mktemp("programs")
    qp = iopt.QuadraticProgram(
        np.diag([-1.0, 0.0]), [1.0, 2.0], [[1.0, 1.0]], [4.0], lb=0.0, ub=10.0, sense=-1,
        variables=["tea", "milk"], inequalities=["cap"],
    )  # fmt: skip
    for ending in ("lp", "mps", "qplib", "npz"):
        qp.write(folder / f"shop.{ending}")
    points: dict[str, Any] = {
        "named": {"tea": 0.0, "milk": 4.0}, "x": {"x": POINT}, "list": POINT,
        "inside": {"tea": 0.0, "milk": 3.0}, "outside": {"tea": 2.0, "milk": 4.0},
        "short": {"tea": 0.0}, "unknown": {"tea": 0.0, "milk": 4.0, "jam": 1.0},
    }  # fmt: skip
    for name, point in points.items():
        (folder / f"{name}.json").write_text(json.dumps(point))
    (folder / "gurobi.sol").write_text("# Objective value = 8\ntea 0\nmilk 4\n")
    (folder / "highs.sol").write_text(
        "Model status\nOptimal\n\n# Primal solution values\nFeasible\nObjective 8\n# Columns 2\n"
        "tea 0\nmilk 4\n# Rows 1\ncap 4\n\n# Dual solution values\nFeasible\n# Columns 2\n"
        "tea -1\nmilk 0\n# Rows 1\ncap 2\n"
    )
    (folder / "none.sol").write_text("# Primal solution values\nNone\n")
    (folder / "prose.sol").write_text("the point is good\n")
    return folder


@pytest.mark.parametrize("program", ["shop.lp", "shop.mps", "shop.qplib", "shop.npz"])
@pytest.mark.parametrize("point", ["named.json", "x.json", "list.json", "gurobi.sol", "highs.sol"])
def test_a_point_of_a_file(folder: Path, program: str, point: str) -> None:
    command = ("verify", folder / program, folder / point, "--require", "GLOBAL", "--json")
    answer = strict(printed(*command))
    assert (answer["claim"], answer["objective"], answer["sense"]) == ("GLOBAL", 8.0, "max")
    assert answer["bound"] == pytest.approx(8.0, rel=1e-9)


def test_points_that_are_no_optimum(folder: Path) -> None:
    inside = strict(printed("verify", folder / "shop.lp", folder / "inside.json", "--json"))
    assert (inside["claim"], inside["objective"]) == ("FEASIBLE", 6.0)
    outside = run("verify", folder / "shop.lp", folder / "outside.json")
    assert outside.exit_code == 1
    assert outside.stdout.startswith("NONE")
    assert "is violated by 2 in row cap" in outside.stdout
    assert max(map(len, outside.stdout.splitlines())) <= 80


@pytest.mark.parametrize(
    ("point", "said"),
    [("short.json", "got none for milk"), ("unknown.json", "got one for jam"),
     ("none.sol", "got .*none.sol with the line 'no point'"),
     ("prose.sol", "with the line 'the point is good'"), ("absent.json", "a file of values")],
)  # fmt: skip
def test_points_that_cannot_be_read(folder: Path, point: str, said: str) -> None:
    told = " ".join(complaint("verify", folder / "shop.lp", folder / point).split())
    assert re.search(said, told), told


def test_options_of_kernels_are_refused(folder: Path) -> None:
    told = complaint("verify", folder / "shop.lp", folder / "x.json", "--kernel", "rbf")
    assert "kernel: expected none for a quadratic program" in told
    told = complaint("verify", "words", "SVMDual", folder / "x.json", "--sense", "min")
    assert "sense: expected none for data" in told
