"""Solutions, claims and gaps are those of `golden.json`, or better."""

from __future__ import annotations

from typing import Any

import golden
import pytest

import indefinite_opt as iopt

GOLDEN = golden.golden()
JOBS = golden.jobs()


def differences(names: list[str], plan: golden.Plan = golden.PLANS[0]) -> list[str]:
    """One line for each entry that differs for the worse."""
    found = [
        (name, golden.difference(name, GOLDEN[name], golden.solved(JOBS[name], plan)))
        for name in names
    ]
    return [f"{name}: {words}" for name, words in found if words]


def of_kernel(kernel: str) -> list[str]:
    return [name for name in GOLDEN if name.startswith(f"{kernel}: ")]


@pytest.mark.parametrize("kernel", golden.kernels())
def test_kernels(kernel: str) -> None:
    assert not differences(of_kernel(kernel))


@pytest.mark.parametrize("name", of_kernel("case"))
def test_cases(name: str) -> None:
    assert not differences([name])


@pytest.mark.slow
@pytest.mark.parametrize("plan", golden.PLANS[1:], ids=str)
@pytest.mark.parametrize("kernel", [*golden.kernels(), "case"])
def test_orders_seeds_and_threads(kernel: str, plan: golden.Plan) -> None:
    assert not differences(of_kernel(kernel), plan)


def test_the_file_has_every_formulation_and_nothing_that_is_gone() -> None:
    assert set(GOLDEN) <= set(JOBS)
    assert {name.partition(": ")[2].partition("(")[0] for name in GOLDEN} >= set(
        iopt.available_formulations()
    )


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("gaussian: SVMDual()", {"objective": 16.0}, "worse"),
        ("gaussian: SVMDual()", {"objective": 17.0}, "beyond a proved bound"),
        ("gaussian: SVMDual()", {"claim": "LOCAL"}, "weaker claim"),
        ("gaussian: SVMDual()", {"gap": 1e-3}, "larger gap"),
        ("gaussian: LPSVM()", {"objective": 100.0}, "worse"),
        ("random: SVMDual()", {"objective": 1e4}, ""),  # a better local optimum
        ("random: SVMDual()", {"objective": 1e4, "claim": "GLOBAL", "gap": 0.0}, "no proof"),
        ("random: ConvexHullPrimal()", {"claim": "GLOBAL", "gap": 0.0}, "no proof"),
        ("case: negative identity", {"claim": "GLOBAL", "gap": 0.0}, ""),
        ("case: negative identity",
         {"objective": 16.0, "claim": "GLOBAL", "gap": 0.0}, "the optimum is 15.0"),
    ],
)  # fmt: skip
def test_what_is_worse_is_reported(name: str, change: dict[str, Any], words: str) -> None:
    found = golden.difference(name, GOLDEN[name], GOLDEN[name] | change)
    assert words in found
    assert bool(words) == bool(found)


def test_values_that_depend_on_the_run_are_left_out() -> None:
    runs: list[golden.Entry] = [
        {"objective": value, "sense": "min", "claim": claim, "gap": gap, "unit": 1.0}
        for value, claim, gap in ((1.0, "GLOBAL", 0.0), (1.0 + 1e-8, "LOCAL", None))
    ]
    assert golden.chosen(runs) == runs[1]
    assert "objectives differ" in golden.chosen([runs[0], runs[1] | {"objective": 1.1}])
    assert "ends differ" in golden.chosen([runs[0], {"error": "SolverFailed"}])
