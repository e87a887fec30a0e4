"""Progress of a solver as lines of a log."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from indefinite_opt.solvers import Callback, Trace

LOGGER = logging.getLogger("indefinite_opt")

MIN_SECONDS_BETWEEN_LINES = 1.0
"""So that thousands of reports per second do not bury the rest of a log."""


def reporting(callback: Callback | None) -> Callback:
    """A callback that logs the last entry of a trace and then calls the given callback."""
    last = -np.inf

    def report(trace: Trace) -> bool | None:
        nonlocal last
        if time.perf_counter() - last >= MIN_SECONDS_BETWEEN_LINES and len(trace):
            last = time.perf_counter()
            LOGGER.info("%s", line(trace))
        return None if callback is None else callback(trace)

    return report


def line(trace: Trace) -> str:
    """The last entry of a trace as a line of text.

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
    """If `verbose`, log the lines, to standard error unless logging has been set up."""
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
