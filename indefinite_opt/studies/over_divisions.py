"""What the rows of several divisions say together: means, spreads, and the weakest proof."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np

from indefinite_opt.quadratic import Claim
from indefinite_opt.studies.store import Row
from indefinite_opt.workflow import weakest_kind


def usual_ends(rows: list[Row]) -> list[str]:
    """The ends of a grid that half or more of the rows of a method chose."""
    counts = Counter(end for row in rows for end in row.get("ends", ()))
    return [end for end, count in counts.items() if 2 * count >= len(rows)]


def proved_of_all(rows: list[Row], metrics: Sequence[str]) -> Row:
    """What is proved about all of several divisions, by those metrics that are about proofs.

    "claim" is the weakest claim, "gap_kind" the kind of gap that says least, "gap" the largest gap
    of that kind, as different kinds cannot be compared, and "proved_within" the largest one, with
    the number of divisions that have one in "proved". What no division has is "-", "" and NaN.

    >>> rows = [{"claim": "GLOBAL", "gap": 1e-9}, {"claim": "LOCAL", "gap": 1e-7}]
    >>> proved_of_all(rows, ["claim", "gap"])
    {'claim': 'LOCAL', 'gap': 1e-07}
    """
    found: Row = {}
    if "claim" in metrics:
        claims = [Claim[row["claim"]] for row in rows if row["claim"] != "-"]
        found["claim"] = min(claims).name if claims else "-"
    if "gap_kind" in metrics:
        found["gap_kind"] = weakest_kind(row["gap_kind"] for row in rows)
        rows_of_kind = [row for row in rows if row["gap_kind"] == found["gap_kind"]]
    else:
        rows_of_kind = rows
    if "gap" in metrics:
        found["gap"] = max((row["gap"] for row in rows_of_kind), default=math.nan)
    if "proved_within" in metrics:
        bounds = [row["proved_within"] for row in rows if not math.isnan(row["proved_within"])]
        found["proved_within"] = max(bounds, default=math.nan)
        found["proved"] = sum(map(math.isfinite, bounds))
    return found


def run_means(rows: list[Row], name: str) -> list[float]:
    """A metric of each run: the mean over its folds that did not fail."""
    runs: dict[int, list[float]] = {}
    for row in rows:
        if not row["error"]:
            runs.setdefault(row["run"], []).append(float(row[name]))
    return [float(np.mean(values)) for values in runs.values()]


def mean_and_spread(rows: list[Row], name: str) -> tuple[float, float]:
    """The mean of a metric over runs, and its standard deviation; NaN if all cells failed.

    The deviation is that of the population: of the runs, or of the folds of a single run.
    """
    means = run_means(rows, name)
    parts = means if len(means) > 1 else [float(row[name]) for row in rows if not row["error"]]
    if not means:
        return math.nan, math.nan
    with np.errstate(invalid="ignore"):  # of infinite gaps
        return float(np.mean(means)), float(np.std(parts))
