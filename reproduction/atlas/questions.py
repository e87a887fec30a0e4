"""The questions of the atlas, answered by numbers from the table of finished cells.

Pairs of data and similarity are the sample: an interval is that of the percentiles of a bootstrap
that draws pairs with replacement, with all cells of each.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from indefinite_opt.studies import StudyOutcome
from reproduction.atlas.protocol import (
    DESCENT,
    LIBSVM,
    NONCONVEX,
    PROVED,
    USUAL,
    Protocol,
    outcome_of,
)

Array = NDArray[np.float64]

CLOSE = 1e-4
"""The relative gap up to which a program is proved, and above which a miss is a miss."""

DISTINCT = 1e-6
"""The relative difference from which two objectives are those of two local optima."""

RESAMPLES, LEVEL = 2000, 0.95

SPECTRA = ((0.0, 0.05), (0.05, 0.15), (0.15, 1.0))
"""Shares of the spectrum that are negative, by which pairs are grouped."""

SIZES = ((0, 200), (200, 400), (400, 10_000))
"""Numbers of objects, likewise."""


class Estimate(NamedTuple):
    """A number with its interval, and the number of pairs that it is of."""

    value: float
    low: float
    high: float
    pairs: int


def bootstrapped(
    table: pd.DataFrame, statistic: Callable[[pd.DataFrame], float], seed: int = 0
) -> Estimate:
    """A statistic of rows that have a `pair`, with its interval over pairs.

    >>> rows = pd.DataFrame({"pair": ["a", "a", "b", "c"], "x": [1.0, 3.0, 2.0, 2.0]})
    >>> bootstrapped(rows, lambda each: each["x"].mean())
    Estimate(value=2.0, low=2.0, high=2.0, pairs=3)
    """
    if table.empty:
        return Estimate(np.nan, np.nan, np.nan, 0)
    parts = list(table.groupby("pair", sort=False).indices.values())
    draws = np.random.default_rng(seed)
    chosen = draws.integers(len(parts), size=(RESAMPLES, len(parts)))
    found = [statistic(table.iloc[np.concatenate([parts[k] for k in sample])]) for sample in chosen]
    low, high = np.nanquantile(found, [0.5 - LEVEL / 2, 0.5 + LEVEL / 2])
    return Estimate(float(statistic(table)), float(low), float(high), len(parts))


def misses(table: pd.DataFrame) -> pd.DataFrame:
    """One row per pair, C and fold: by how much each method misses the best point that is known.

    `miss LIBSVM` is (best - found)/|best| for the objectives, and `gain LIBSVM` the accuracy of the
    proved point less that of LIBSVM's; likewise of the others. `proved_within` is the gap of the
    best point to the bound.
    """
    ends = table[table["part"] == "end"]
    rows = []
    for (pair, C, fold), group in ends.groupby(["pair", "C", "fold"], sort=False):
        found: dict[str, Any] = {row["method"]: row for row in group.to_dict("records")}
        proved = found[PROVED]
        best = float(group["objective"].max())
        row: dict[str, Any] = {"pair": pair, "C": C, "fold": fold, "best": best}
        row |= {name: proved[name] for name in ("n", "p", "q", "negative", "seconds")}
        # A point that is better than the proved one lies between it and the bound.
        row["proved_within"] = proved["proved_within"]
        for name in (LIBSVM, DESCENT, USUAL, PROVED):
            row[f"miss {name}"] = (best - found[name]["objective"]) / max(abs(best), 1e-300)
            row[f"gain {name}"] = proved["accuracy"] - found[name]["accuracy"]
        rows.append(row)
    return pd.DataFrame(rows)


def missed_share(found: pd.DataFrame, method: str) -> Estimate:
    """The share of the programs whose best known point a method misses by more than `CLOSE`."""
    return bootstrapped(found, lambda rows: float((rows[f"miss {method}"] > CLOSE).mean()))


def correlations(table: pd.DataFrame) -> pd.DataFrame:
    """Spearman's correlation of objective and accuracy over the local optima of one program.

    One row per pair, C and fold with three distinct optima or more, where accuracies differ.
    Only the first of several ends at one optimum counts.
    """
    from scipy.stats import spearmanr

    ends = table[(table["part"] == "end") & ~table["method"].isin([LIBSVM])]
    rows = []
    for (pair, C, fold), group in ends.groupby(["pair", "C", "fold"], sort=False):
        optima = distinct(group["objective"].to_numpy(), group["accuracy"].to_numpy())
        if len(optima) >= 3 and np.ptp(optima[:, 1]) > 0.0:
            rho = float(spearmanr(optima[:, 0], optima[:, 1]).statistic)
            rows.append({"pair": pair, "C": C, "fold": fold, "optima": len(optima), "rho": rho})
    return pd.DataFrame(rows, columns=["pair", "C", "fold", "optima", "rho"])


def distinct(objectives: Array, accuracies: Array) -> Array:
    """Objective and accuracy of ends whose objectives differ, (k, 2), in ascending order.

    >>> distinct(np.array([2.0, 1.0, 2.0 + 1e-9]), np.array([0.5, 0.25, 0.75]))
    array([[1.  , 0.25],
           [2.  , 0.5 ]])
    """
    order = np.argsort(objectives, kind="stable")
    kept: list[int] = []
    for k in order:
        last = objectives[kept[-1]] if kept else -np.inf
        if objectives[k] - last > DISTINCT * abs(objectives[k]):
            kept.append(int(k))
    return np.column_stack([objectives[kept], accuracies[kept]])


def study(table: pd.DataFrame, protocol: Protocol, names: list[str] | None = None) -> StudyOutcome:
    """The study of some pairs, or of all."""
    rows = table[table["part"] == "study"]
    if names is not None:
        rows = rows[rows["pair"].isin(names)]
    records: Any = rows.to_dict("records")
    return outcome_of(records, protocol)


def groups(table: pd.DataFrame) -> dict[str, list[str]]:
    """The names of the pairs in each group, by negative spectrum, number of objects and classes."""
    pairs = table[table["part"] == "pair"].set_index("pair")
    percent = [(f"{100 * a:.0f} to {100 * b:.0f} % negative", a, b) for a, b in SPECTRA]
    chosen = {name: pairs["negative"].between(a, b, "left") for name, a, b in percent}
    for a, b in SIZES:
        name = f"n from {a} to {b - 1}" if b < SIZES[-1][1] else f"n from {a} on"
        chosen[name] = pairs["n"].between(a, b, "left")
    chosen["two classes"] = pairs["classes"] == 2
    chosen["more classes"] = pairs["classes"] > 2
    return {name: pairs.index[which].tolist() for name, which in chosen.items() if which.any()}


def group_ranks(table: pd.DataFrame, protocol: Protocol) -> pd.DataFrame:
    """Mean ranks of the methods, methods × groups of pairs; 1 is the best."""
    ranks: Mapping[str, Mapping[str, float]] = {
        f"{name} ({len(names)})": study(table, protocol, names).ranks
        for name, names in groups(table).items()
    }
    return pd.DataFrame(ranks)


def differences(table: pd.DataFrame, method: str, against: str) -> pd.DataFrame:
    """The `gain` in mean accuracy of one method against another, one row per pair."""
    rows = table[(table["part"] == "study") & (table["error"] == "")]
    means = rows.pivot_table(index="pair", columns="method", values="accuracy", sort=False)
    return (means[method] - means[against]).dropna().rename("gain").reset_index()


def gains(table: pd.DataFrame, method: str, against: str) -> Estimate:
    """The mean difference of the accuracies of two methods over pairs."""
    both = differences(table, method, against)
    return bootstrapped(both, lambda each: float(each["gain"].mean()))


def nonconvex(table: pd.DataFrame) -> pd.DataFrame:
    """The tested fits of nonconvex formulations that did not fail."""
    rows = table[(table["part"] == "study") & (table["error"] == "")]
    return rows[rows["method"].isin(NONCONVEX)]


def growth(found: pd.DataFrame) -> dict[str, Estimate]:
    """How the seconds of a proof grow: the exponent of n, and the factor for 10 points of share.

    log(seconds) = a log n + b negative + c + (a constant for each C), by least squares over the
    programs that were proved.
    """
    closed = found[(found["proved_within"] <= CLOSE) & (found["q"] > 0)]

    def fitted(rows: pd.DataFrame, place: int) -> float:
        levels = sorted(closed["C"].unique())
        columns = [np.log(rows["n"]), rows["negative"]]
        columns += [(rows["C"] == C).astype(float) for C in levels]
        A = np.column_stack(columns)
        seconds = np.log(np.maximum(rows["seconds"].to_numpy(), 1e-3))
        return float(np.linalg.lstsq(A, seconds, rcond=None)[0][place])

    return {
        "exponent of n": bootstrapped(closed, lambda rows: fitted(rows, 0)),
        "factor for 10 points": bootstrapped(closed, lambda rows: np.exp(0.1 * fitted(rows, 1))),
    }
