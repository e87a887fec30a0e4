"""Progress of a solver as lines of a log."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

import numpy as np

from indefinite_opt.quadratic import Callback, Trace, gap_in_words

LOGGER = logging.getLogger("indefinite_opt")

MIN_SECONDS_BETWEEN_LINES = 1.0
"""So that thousands of reports per second do not bury the rest of a log."""


def reporting(callback: Callback | None) -> Callback:
    """A callback that logs the last entry of a trace and then calls the given callback."""
    last = -np.inf

    def report(trace: Trace) -> bool | None:
        nonlocal last
        if time.perf_counter() - last >= MIN_SECONDS_BETWEEN_LINES and len(trace):
            if np.isinf(last) and trace.open_nodes[-1] is not None:
                LOGGER.info("%s", _COLUMNS)
            last = time.perf_counter()
            LOGGER.info("%s", line(trace))
        return None if callback is None else callback(trace)

    return report


_COLUMNS = "   nodes    open          lower          upper      gap seconds"
"""Above the lines of branch and bound, as wide as they are."""


def line(trace: Trace) -> str:
    """The last entry of a trace as a line of text, of branch and bound as a row of a table.

    >>> trace = Trace()
    >>> trace.add(seconds=1.5, iterations=2000, objective=3.25, residual=1e-3)
    >>> line(trace)
    '   1.5 s      2000 iterations  objective 3.25  residual 1.0e-03'
    >>> trace.add(2.5, 7, objective=3.25, residual=0.08, bound=3.0, open_nodes=4)
    >>> print(f"{_COLUMNS}\\n{line(trace)}")
       nodes    open          lower          upper      gap seconds
           7       4              3           3.25 8.00e-02     2.5
    """
    if trace.open_nodes[-1] is not None:
        lower, upper = sorted((trace.objective[-1], trace.bound[-1]))
        gap = gap_in_words(upper - lower, trace.residual[-1]).split()[-1]
        return (
            f"{trace.iterations[-1]:8d}{trace.open_nodes[-1]:8d}{lower:15.8g}{upper:15.8g} "
            f"{gap:>8} {trace.seconds[-1]:7.1f}"
        )
    text = (
        f"{trace.seconds[-1]:6.1f} s  {trace.iterations[-1]:8d} iterations  "
        f"objective {trace.objective[-1]:.9g}"
    )
    if np.isfinite(trace.bound[-1]):
        text += f"  bound {trace.bound[-1]:.9g}"
    if np.isfinite(trace.residual[-1]):
        text += f"  residual {trace.residual[-1]:.1e}"
    return text


def shown(verbose: bool) -> AbstractContextManager[None]:
    """If `verbose`, log the lines, to standard error unless logging has been set up."""
    return _logged() if verbose else nullcontext()


@contextmanager
def _logged() -> Iterator[None]:
    level, handler = LOGGER.level, logging.StreamHandler(sys.stderr)
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
