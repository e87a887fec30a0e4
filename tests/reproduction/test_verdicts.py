"""Verdicts on sentences of the papers, from numbers that are made so that the answer is known."""

from __future__ import annotations

import numpy as np
import pytest

from indefinite_opt.studies import ComputationOutcome
from reproduction.haasdonk import check_figure_2
from reproduction.lin_lin import check_figure_2 as check_programs
from reproduction.lin_lin import figure_2_axes
from reproduction.loosli import check_figure_5
from reproduction.luss import check_figure_1


def convergence(cut_rate: float, late: float) -> dict[str, ComputationOutcome]:
    """Cuts that multiply the gap by a factor, and steps that stop at `late`."""
    cuts, steps = np.arange(0, 201, 2), np.arange(0, 1001, 10)
    curves = {
        "ACCPM, printed; a": (cuts, 1e4 * cut_rate**cuts),
        "projected gradient, printed; a": (steps, np.maximum(1e4 * 0.5**steps, late)),
    }
    return {
        "gaps": ComputationOutcome(
            {
                name: [{"setting": name, "iterations": list(along), "gaps": list(gap)}]
                for name, (along, gap) in curves.items()
            }
        )
    }


def test_convergence_of_cutting_planes() -> None:
    found = check_figure_1(convergence(0.9, 50.0))
    assert {name: bool(one.holds) for name, one in found.items()} == dict.fromkeys(found, True)
    # 10⁴ · 0.9^k ≤ 50 first holds for k = 51, and every second cut is drawn.
    assert "50, is that of ACCPM after 52 cuts" in found["faster"].measured
    slow = check_figure_1(convergence(0.999, 50.0))
    assert not slow["faster"].holds
    assert not slow["precision"].holds


@pytest.mark.parametrize("fastest", ["ESVM-L", "ESVM"])
def test_times(fastest: str) -> None:
    seconds = {
        "ESVM": 2.0, "ESVM-L": 3.0, "KSVM": 4.0, "RVM": 8.0, "Indefinite SVM": 30.0,
        "LP SVM": 20.0, "Abs eigs": 5.0, "Trunc eigs": 5.0, "Shift eigs": 5.0, fastest: 1.0,
    }  # fmt: skip
    rows = [
        {"name": name, "n": n, "training_seconds": time * n / 100, "error": ""}
        for name, time in seconds.items()
        for n in (50, 100)
    ]
    found = check_figure_5({"times": ComputationOutcome({"all": rows})})
    assert found["similar"].holds
    assert found["complex"].holds
    assert found["suffers"].holds == found["competitive"].holds == (fastest == "ESVM-L")
    assert found["similar"].measured == "100 points: KSVM 4 s, RVM 8 s"


@pytest.mark.parametrize("good", [1.0, -1.0])
def test_regions_of_the_shift(good: float) -> None:
    """With the constraint 80 % where r has the opposite sign; without it where r has this one."""
    horizontal, vertical = figure_2_axes(quick=True)

    def rows(r: float, sign: float) -> list[dict[str, object]]:
        return [{"accuracy": [80.0 if sign * r > 0.0 else 50.0] * len(horizontal)}]

    settings = {f"heart; (2); {r}": rows(r, -good) for r in vertical}
    settings |= {f"heart; (19), without yᵀα = 0; {r}": rows(r, good) for r in vertical}
    found = check_programs({"heart": ComputationOutcome(settings)})
    holds = {name: bool(one.holds) for name, one in found.items()}
    expected = {"negative": True, "sometimes": False, "shift": True, "bad": True}
    if good < 0.0:
        expected = {"negative": False, "sometimes": True, "shift": False, "bad": False}
    assert holds == expected


def test_signs_of_squared_norms() -> None:
    row = {"wMw": 2.0, "DCM": 1.0, "wrong": 0, "wrong non-SVs": 0, "bounded SVs": 0}
    rows = {"a": row, "b": {**row, "wMw": -1.0, "wrong": 3, "bounded SVs": 2}, "c": row,
            "d": {**row, "wMw": -0.5, "DCM": -0.5}}  # fmt: skip
    found = check_figure_2({"panels": ComputationOutcome({k: [v] for k, v in rows.items()})})
    failing = [name for name, one in found.items() if not one.holds]
    assert failing == ["bounded"]
    assert found["bounded"].measured == "3 wrong, 2 at the bound"
