"""Progress of a solver as lines of a log."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from indefinite_opt.solvers import Callback, Trace

__all__ = ["reporting", "shown"]

LOGGER = logging.getLogger("indefinite_opt")

INTERVAL = 1.0
"""Seconds between two lines, so that thousands of reports do not bury the rest of a log."""


def reporting(callback: Callback | None) -> Callback:
    """A callback that logs what a trace says last, and then asks the given callback."""
    last = -np.inf

    def report(trace: Trace) -> bool | None:
        nonlocal last
        if time.perf_counter() - last >= INTERVAL and len(trace):
            last = time.perf_counter()
            LOGGER.info("%s", line(trace))
        return None if callback is None else callback(trace)

    return report


def line(trace: Trace) -> str:
    """The last entry of a trace, in one line.

    >>> trace = Trace()
    >>> trace.add(seconds=1.5, iterations=2000, objective=3.25, residual=1e-3)
    >>> line(trace)
    '   1.5 s      2000 iterations  objective 3.25  residual 1.0e-03'
    """
    text = (
        f"{trace.seconds[-1]:6.1f} s  {trace.iterations[-1]:8d} iterations  "
        f"objective {trace.objective[-1]:.9g}"
    )
    if np.isfinite(trace.bound[-1]):
        text += f"  bound {trace.bound[-1]:.9g}"
    if np.isfinite(trace.residual[-1]):
        text += f"  residual {trace.residual[-1]:.1e}"
    return text


@contextmanager
def shown(verbose: bool) -> Iterator[None]:
    """Let the lines pass, and show them on standard error unless logging has been set up."""
    if not verbose:
        yield
        return
    level, handler = LOGGER.level, logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(name)s: %(message)s"))
    own = not LOGGER.hasHandlers()
    if not LOGGER.isEnabledFor(logging.INFO):
        LOGGER.setLevel(logging.INFO)
    if own:
        LOGGER.addHandler(handler)
    try:
        yield
    finally:
        LOGGER.setLevel(level)
        if own:
            LOGGER.removeHandler(handler)
