"""The picture of a bracket on a terminal, while it closes."""

from __future__ import annotations

import io
import re
from typing import Any

import pytest
from rich.console import Console
from rich.text import Text

import indefinite_opt as iopt
from indefinite_opt.command_line.bound import Watch, share_closed

INF = float("inf")


@pytest.mark.parametrize(
    ("gaps", "goal", "share"),
    [
        ([1.0], 1e-4, 0.0), ([1.0, 1e-1], 1e-4, 0.25), ([INF, 10.0, 1.0, 1e-2], 1e-5, 0.5),
        ([INF], 1e-4, 0.0), ([1.0, 1e-5], 1e-4, 1.0), ([1.0, 0.0], 1e-4, 1.0), ([0.0], 1e-4, 1.0),
    ],
)  # fmt: skip
def test_the_gap_closes_on_a_logarithmic_scale(
    gaps: list[float], goal: float, share: float
) -> None:
    assert share_closed(gaps, goal) == pytest.approx(share)


def watched(reports: list[tuple[float, float, float]], width: int = 80) -> list[str]:
    """The lines on a terminal after reports of (objective, bound, relative gap)."""
    terminal = Console(width=width, force_terminal=True, file=io.StringIO())
    watch = Watch(terminal, "SVMDual(C=1) on points", 1e-4)
    trace = iopt.solvers.Trace()
    for i, (objective, bound, gap) in enumerate(reports):
        trace.add(0.1 * i, i + 1, objective, gap, bound, open_nodes=1)
        watch(trace)
    with terminal.capture() as captured:
        terminal.print(watch.picture())
    return Text.from_ansi(captured.get()).plain.splitlines()


def test_the_picture_has_the_ends_on_both_sides() -> None:
    title, ends, numbers, hint = watched([(4.0, 8.0, 1.0), (4.0, 4.04, 1e-2)])
    assert title == "SVMDual(C=1) on points"
    low, bar, high = ends.split()
    assert (float(low), float(high)) == (4.0, 4.04)
    assert set(bar) <= set("━╸╺")
    assert numbers.startswith("relative gap 1.0e-02 (goal 0.0001), 2 nodes (1 open), ")
    assert "Ctrl-C" in hint


@pytest.mark.parametrize("width", [40, 60, 79, 80, 200])
@pytest.mark.parametrize(
    "reports",
    [
        [],
        [(4.0, float("inf"), float("inf"))],
        [(-4e-12, -5.0, 1.0)],
        [(4.0, 8.0, 1.0), (4.0, 4.0, 0.0)],
        [(-1.2345678901e-100, -1.2345678901e100, 1e100)],
    ],
)
def test_the_picture_fits(reports: Any, width: int) -> None:
    lines = watched(reports, width)
    assert max(map(len, lines)) <= width
    if len(reports) == 2:
        assert re.fullmatch(r" *4\.0+ +━+ +4\.0+ *", lines[1])


def test_in_a_minimisation_the_bound_is_below() -> None:
    _, ends, _, _ = watched([(-0.5, -0.75, 0.25)])
    low, _, high = ends.split()
    assert (float(low), float(high)) == (-0.75, -0.5)
