"""A bracket on the terminal while it closes."""

from __future__ import annotations

import math
import time
from typing import Self

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from indefinite_opt.modeling import gap_in_words
from indefinite_opt.solvers import Trace


class Watch:
    """The callback of `bound`, and a context in which its reports are shown.

    On a terminal the two ends of the bracket stand on both sides of a bar that fills as the gap
    closes, and all of it vanishes at the end. Elsewhere there is a line every few seconds; five
    show an hour in a log. `goal` is the relative gap at which the search stops.
    """

    def __init__(
        self, console: Console, title: str, goal: float, line_seconds: float = 5.0
    ) -> None:
        self.console, self.title, self.goal = console, title, goal
        self.line_seconds = line_seconds
        self.trace = Trace()
        self._began = self._told = time.perf_counter()
        self._live: Live | None = None

    def __enter__(self) -> Self:
        self._began = self._told = time.perf_counter()
        if self.console.is_terminal:
            self._live = Live(
                get_renderable=self.picture, console=self.console, transient=True,
                refresh_per_second=8,
            )  # fmt: skip
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None

    def __call__(self, trace: Trace) -> None:
        """Remember a report, and print its line if one is due."""
        self.trace = trace
        now = time.perf_counter()
        if self._live is None and len(trace) and now - self._told >= self.line_seconds:
            self._told = now
            self.console.print(self.line(), highlight=False, markup=False, soft_wrap=True)

    def line(self) -> str:
        """The last report in one line."""
        low, high = self._ends()
        return f"{low} ≤ optimal value ≤ {high}, {self._progress(self.trace.seconds[-1])}"

    def picture(self) -> Group:
        """The title, the two ends with the bar between them, and the numbers."""
        seconds = time.perf_counter() - self._began
        title = Text(self.title, style="bold")
        hint = Text("Ctrl-C ends the search and keeps the bracket", style="dim")
        if not len(self.trace):
            waiting = Text(f"loading, local search and first bounds, {seconds:.1f} s")
            return Group(title, waiting, hint)
        low, high = self._ends()
        row = Table.grid(padding=(0, 1), expand=True)
        row.add_column(no_wrap=True, min_width=14, justify="right")
        row.add_column(ratio=1)
        row.add_column(no_wrap=True, min_width=14)
        share = share_closed(self.trace.residual, self.goal)
        row.add_row(low, ProgressBar(total=1.0, completed=share), high)
        return Group(title, row, Text(self._progress(seconds)), hint)

    def _ends(self) -> tuple[str, str]:
        low, high = sorted((self.trace.objective[-1], self.trace.bound[-1]))
        return f"{low:#.10g}", f"{high:#.10g}"

    def _progress(self, seconds: float) -> str:
        count, open_nodes = self.trace.iterations[-1], self.trace.open_nodes[-1]
        gap = abs(self.trace.objective[-1] - self.trace.bound[-1])
        work = f"{count} node{'s' * (count != 1)} ({open_nodes} open)"
        return (
            f"{gap_in_words(gap, self.trace.residual[-1], digits=1)} (goal {self.goal:g}), "
            f"{f'{count} iterations' if open_nodes is None else work}, {seconds:.1f} s"
        )


def share_closed(gaps: list[float], goal: float) -> float:
    """How far a gap has closed on a logarithmic scale: 0 at the first finite gap, 1 at the goal."""
    first = next((gap for gap in gaps if math.isfinite(gap)), math.inf)
    now = gaps[-1]
    if now <= goal:
        return 1.0
    if first <= now or math.isinf(first):
        return 0.0
    return math.log(first / now) / math.log(first / goal)
