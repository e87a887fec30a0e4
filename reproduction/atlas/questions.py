"""The questions of `design.md`, answered by numbers from the table of finished cells.

The unit is the data set: the value of one is the mean over its pairs, of each pair over the seeds,
of each seed over the folds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from reproduction.atlas.pairs import pairs
from reproduction.atlas.protocol import DESCENT, LIBSVM, METHODS, PROVED, USUAL
from reproduction.atlas.rule import STEPS, chosen_by_rule

Array = NDArray[np.float64]

CLOSE = 1e-4
"""The relative gap up to which a program is proved, and above which a miss is a miss."""

FAR = 1e-2
"""Misses above this are counted apart: no tolerance of a solver explains them."""

CONVEX = 1e-9
"""Negative shares up to this are rounding, so that the program is convex."""

DISTINCT = 1e-6
"""The relative difference from which two objectives are those of two local optima."""

MARGIN = 0.01
"""The largest difference of accuracies that counts as none."""

DECIMALS = 5
"""Differences of accuracies are rounded to so many, as the table has six digits of these."""

RESAMPLES = 10_000

ENOUGH = 10
"""Data sets of which equivalence can be said: a bootstrap of fewer has too few values."""

CONTROL = "clip"
"""The method with which all others are compared."""

CEILING = 0.99
"""Half of the methods are as accurate as this on a pair at the ceiling."""

TAKEN = tuple(method for _, method in STEPS)
"""The methods among which the rule chooses."""

BUDGETS = (0.1, 1.0, 10.0, 100.0)
"""Seconds for the choice and the fit of a method, for the comparison at equal time."""

LARGE, HIGH = 300, 10.0
"""Training points and C from which on proofs are counted apart."""


LOG_NOISE = (-3.0, 3.0)
"""Bounds of the logarithm of the standard deviation of log seconds."""


class Estimate(NamedTuple):
    """A mean over data sets with its 95 % interval.

    `tost` is the p-value of the test of equivalence, that the magnitude of the mean is at least
    `MARGIN`: the larger share of the bootstrap's means beyond one of both margins, and 1 for fewer
    data sets than `ENOUGH`. `sets` is the number of data sets.

    `f"{estimate:percent}"` shows it in percent, "points" in percentage points with a sign, "plain"
    as it is. A format that ends with "value" leaves the interval out.
    """

    value: float
    low: float
    high: float
    tost: float
    sets: int

    @property
    def equivalent(self) -> bool:
        """Whether the difference is less than `MARGIN`, by two one-sided tests at 5 %."""
        return self.tost < 0.05

    def __format__(self, spec: str) -> str:
        kind, _, only = spec.partition(" ")
        factor, pattern = {"percent": (100.0, ".1f"), "points": (100.0, "+.1f")}.get(
            kind, (1.0, ".2f")
        )
        value, low, high = (f"{factor * number:{pattern}}" for number in self[:3])
        return value if only == "value" else f"{value} ({low} to {high})"


def by_set(rows: pd.DataFrame) -> pd.Series[float]:
    """The mean of `value` of each data set: over seeds, then over pairs."""
    seeds = rows.groupby(["dataset", "pair", "run"], sort=False)["value"].mean()
    return seeds.groupby(level=[0, 1], sort=False).mean().groupby(level=0, sort=False).mean()


def estimated(rows: pd.DataFrame, seed: int = 0) -> Estimate:
    """The mean over data sets of `value`, with intervals of a hierarchical bootstrap.

    Parameters
    ----------
    rows : DataFrame
        With the columns dataset, pair, run (a seed, or a fold where there is one seed) and value.
        Rows without a value are left out.

    >>> rows = pd.DataFrame({"dataset": ["a", "a", "b"], "pair": ["a1", "a2", "b1"], "run": 0,
    ...                      "value": [1.0, 3.0, 2.0]})
    >>> found = estimated(rows)
    >>> found.value, found.low, found.high, found.sets
    (2.0, 1.5, 2.5, 2)
    """
    rows = rows.dropna(subset=["value"])
    if rows.empty:
        return _estimate(np.nan, [], 0)
    seeds = rows.groupby(["dataset", "pair", "run"], sort=True)["value"].mean()
    sets = [
        [pair.to_numpy() for _, pair in group.groupby(level=1)]
        for _, group in seeds.groupby(level=0)
    ]
    draws = np.random.default_rng(seed)
    drawn = draws.integers(len(sets), size=(RESAMPLES, len(sets)))
    values = np.empty(drawn.shape)
    for k, own in enumerate(sets):
        places = drawn == k
        values[places] = _drawn_means(own, int(places.sum()), draws)
    return _estimate(float(by_set(rows).mean()), values.mean(axis=1), len(sets))


def _estimate(value: float, drawn: Array | list[float], sets: int) -> Estimate:
    """A value with the interval of what the bootstrap has drawn; nan where it could draw none."""
    if not len(drawn):
        return Estimate(value, np.nan, np.nan, np.nan, sets)
    low, high = np.nanquantile(drawn, [0.025, 0.975])
    beyond = max(np.sum(np.array(drawn) >= MARGIN), np.sum(np.array(drawn) <= -MARGIN))
    tost = float((1 + beyond) / (1 + len(drawn))) if sets >= ENOUGH else 1.0
    return Estimate(value, float(low), float(high), tost, sets)


def _drawn_means(own: list[Array], count: int, draws: np.random.Generator) -> Array:
    """Means over drawn pairs of means over drawn seeds, (count,)."""
    which = draws.integers(len(own), size=(count, len(own)))
    found = np.empty(which.shape)
    for k, values in enumerate(own):
        places = which == k
        chosen = draws.integers(values.size, size=(int(places.sum()), values.size))
        found[places] = values[chosen].mean(axis=1)
    return np.mean(found, axis=1)


def wilcoxon(rows: pd.DataFrame, alternative: str = "two-sided") -> float:
    """The p-value of Wilcoxon's signed-rank test that the values of data sets lie around 0.

    Zeros have ranks but no sign (Pratt 1959). The test is exact, with zeros and ties: by the
    distribution of the sum of the ranks with a positive sign when all signs are equally likely.

    Parameters
    ----------
    alternative : {"two-sided", "greater"}
    """
    from scipy.stats import rankdata

    values = by_set(rows.dropna(subset=["value"])).round(DECIMALS).to_numpy()
    ranks = np.rint(2.0 * rankdata(np.abs(values))).astype(int)  # those of ties may end in a half
    chances = np.ones(1)
    for rank in ranks[values != 0.0]:
        chances = 0.5 * (np.pad(chances, (0, rank)) + np.pad(chances, (rank, 0)))
    total = int(ranks[values > 0.0].sum())
    above, below = float(chances[total:].sum()), float(chances[: total + 1].sum())
    p = {"greater": above, "two-sided": 2.0 * min(above, below)}
    return min(1.0, p[alternative])


def holm(p: Mapping[str, float]) -> dict[str, float]:
    """The p-values of several tests, adjusted by Holm's method; a test without data has p = 1.

    >>> holm({"first": 0.04, "second": 0.01, "third": 0.03})
    {'first': 0.06, 'second': 0.03, 'third': 0.06}
    """
    p = {name: 1.0 if np.isnan(value) else value for name, value in p.items()}
    adjusted, least = {}, 0.0
    for k, name in enumerate(sorted(p, key=lambda name: p[name])):
        least = max(least, min(1.0, (len(p) - k) * p[name]))
        adjusted[name] = least
    return {name: adjusted[name] for name in p}


def named(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with the data set of their pair."""
    known = pairs()
    return rows.assign(dataset=[known[name].dataset for name in rows["pair"]])


def misses(table: pd.DataFrame, convex: bool = False) -> pd.DataFrame:
    """One row per pair, fold and C: by how much each method misses the best point that is known.

    `miss LIBSVM` is (best - found)/|best| for the objectives, `gain LIBSVM` the accuracy of the
    point of the search with a proof less that of LIBSVM's, and `seconds LIBSVM` its time; likewise
    of the others. `proved_within` is the gap of the search with a proof, and `tuned` whether the
    study has chosen this C there. The programs are those of indefinite kernels, or those of
    `convex` ones, where misses are tolerances of solvers.
    """
    rows = []
    for (pair, fold, C), group in table[table["part"] == "ends"].groupby(
        ["pair", "fold", "C"], sort=False
    ):
        found: dict[str, Any] = {row["method"]: row for row in group.to_dict("records")}
        proved = found[PROVED]
        best = float(group["objective"].max())
        row: dict[str, Any] = {"pair": pair, "C": C, "run": fold, "best": best}
        kept = ("n", "q", "negative_share", "seconds", "proved_within")
        row |= {name: proved[name] for name in kept}
        row["tuned"] = _chosen_C(proved.get("chosen", "")) == C
        for name in (LIBSVM, DESCENT, USUAL, PROVED):
            row[f"miss {name}"] = (best - found[name]["objective"]) / max(abs(best), 1e-300)
            row[f"gain {name}"] = proved["accuracy"] - found[name]["accuracy"]
            row[f"seconds {name}"] = found[name]["seconds"]
        rows.append(row)
    made = pd.DataFrame(rows)
    return named(made[(made["q"] == 0) if convex else (made["q"] > 0)].reset_index(drop=True))


def _chosen_C(title: str) -> float:
    """The C of a title such as "SVMDual(C=10), form=linear", 1 if it names none.

    >>> _chosen_C("SVMDual(C=0.1), form=linear"), _chosen_C("SVMDual, form=linear")
    (0.1, 1.0)
    """
    found = re.search(r"\bC=([\d.e+]+)", title)
    return float(found[1]) if found else 1.0


def missed(programs: pd.DataFrame, method: str, least: float = CLOSE) -> pd.DataFrame:
    """Whether a method misses each program by more than a share, as `value`."""
    return programs.assign(value=(programs[f"miss {method}"] > least).astype(float))


def worth(programs: pd.DataFrame, method: str, least: float = CLOSE) -> pd.DataFrame:
    """The gain in accuracy where a method misses a program by more than a share, as `value`.

    The gain is that of the point of the search with a proof.
    """
    far = programs[programs[f"miss {method}"] > least]
    return far.assign(value=far[f"gain {method}"])


def growth_with_C(programs: pd.DataFrame, method: str, least: float = CLOSE) -> pd.DataFrame:
    """The share of missed programs with C ≥ 10 less that with C ≤ 1, of each pair and fold."""
    found = missed(programs, method, least)
    levels = [found[found["C"] >= HIGH], found[found["C"] <= 1.0]]
    shares = [each.groupby(["dataset", "pair", "run"])["value"].mean() for each in levels]
    return (shares[0] - shares[1]).dropna().rename("value").reset_index()


def correlations(table: pd.DataFrame) -> pd.DataFrame:
    """Spearman's correlation of objective and accuracy over the local optima of one program.

    One row per pair, fold and C with three distinct optima or more, where accuracies differ.
    Only the first of several ends at one optimum counts.
    """
    from scipy.stats import spearmanr

    rows = []
    ends = table[(table["part"] == "ends") & (table["method"] != LIBSVM) & (table["q"] > 0)]
    for (pair, fold, _), group in ends.groupby(["pair", "fold", "C"], sort=False):
        optima = distinct(group["objective"].to_numpy(), group["accuracy"].to_numpy())
        if len(optima) >= 3 and np.ptp(optima[:, 1]) > 0.0:
            rho = float(spearmanr(optima[:, 0], optima[:, 1]).statistic)
            rows.append({"pair": pair, "run": fold, "optima": len(optima), "value": rho})
    return named(pd.DataFrame(rows, columns=["pair", "run", "optima", "value"]))


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


def accuracies(table: pd.DataFrame) -> pd.DataFrame:
    """The accuracy of each method on each pair and seed: columns are methods.

    A fit that failed has the accuracy of the prediction of the largest class.
    """
    return _tested(table).pivot_table(
        index=["pair", "run"], columns="method", values="accuracy", sort=False
    )


def _tested(table: pd.DataFrame) -> pd.DataFrame:
    """The tested fits, where one that failed predicts the largest class."""
    rows = table[table["part"] == "study"]
    shares = {name: max(pair.classes) / pair.n for name, pair in pairs().items()}
    return rows.assign(
        accuracy=rows["accuracy"].where(rows["error"] == "", rows["pair"].map(shares))
    )


def places(found: pd.DataFrame) -> dict[str, str]:
    """Whether each pair is at the "ceiling", at the "floor", or "between" them."""
    told = {}
    for pair, group in found.groupby(level="pair", sort=False):
        means, known = group.mean(), pairs()[str(pair)]
        share = max(known.classes) / known.n
        sure = share + 2.0 * np.sqrt(share * (1.0 - share) / known.n)
        high = (means.dropna() >= CEILING).mean() >= 0.5
        told[str(pair)] = "ceiling" if high else "between" if means.max() > sure else "floor"
    return told


def between(found: pd.DataFrame) -> pd.DataFrame:
    """The accuracies of the pairs that are neither at the ceiling nor at the floor."""
    told = places(found)
    return found[[told[pair] == "between" for pair in found.index.get_level_values("pair")]]


def difference(found: pd.DataFrame, method: str, against: str = CONTROL) -> pd.DataFrame:
    """The accuracy of one method less that of another one, as `value`, for each pair and seed."""
    return named((found[method] - found[against]).rename("value").reset_index())


def compared(found: pd.DataFrame) -> pd.DataFrame:
    """Every other method against the control: an `Estimate`, p, adjusted p, and equivalence."""
    others = [str(method) for method in found if method != CONTROL]
    gaps = {method: difference(found, method) for method in others}
    p = {method: wilcoxon(gaps[method]) for method in others}
    adjusted = holm(p)
    rows: list[dict[str, Any]] = [
        {
            "method": method, "gain": (gain := estimated(gaps[method])), "p": p[method],
            "adjusted": adjusted[method], "equivalent": gain.equivalent,
            "median": float(by_set(gaps[method]).median()),
        }
        for method in others
    ]  # fmt: skip
    order = sorted(rows, key=lambda row: -row["gain"].value)
    return pd.DataFrame(order).set_index("method")


def shares_used(table: pd.DataFrame, method: str = CONTROL) -> pd.Series[float]:
    """The mean negative share of the kernels that a method has chosen for each pair."""
    rows = table[(table["part"] == "study") & (table["method"] == method)]
    return rows.groupby("pair", sort=False)["negative_share"].mean()


def trend(found: pd.DataFrame, shares: pd.Series[float], method: str) -> tuple[Estimate, float]:
    """Spearman's correlation over data sets of a method's gain with the negative share used.

    Both are means over the same pairs. With its interval, for which data sets are drawn, and the
    one-sided p-value of a permutation test.
    """
    from scipy.stats import rankdata

    gain = by_set(difference(found, method).dropna(subset=["value"])).round(DECIMALS)
    kept = shares[shares.index.isin(found.index.get_level_values("pair"))]
    used = named(kept.rename("value").reset_index().assign(run=0))
    x = by_set(used)[gain.index].to_numpy()
    y = gain.to_numpy()
    draws = np.random.default_rng(0)

    def rho(a: Any, b: Any) -> float:
        return float(np.corrcoef(rankdata(a), rankdata(b))[0, 1])

    samples = draws.integers(y.size, size=(RESAMPLES, y.size))
    drawn = [rho(x[rows], y[rows]) for rows in samples if np.ptp(x[rows]) and np.ptp(y[rows])]
    ranks = rankdata(x), rankdata(y)
    permuted = [np.corrcoef(ranks[0], draws.permutation(ranks[1]))[0, 1] for _ in range(RESAMPLES)]
    observed = rho(x, y)
    p = (1 + np.sum(np.array(permuted) >= observed - 1e-12)) / (1 + RESAMPLES)
    return _estimate(observed, drawn, y.size), float(p)


def by_rule(table: pd.DataFrame, found: pd.DataFrame) -> pd.DataFrame:
    """The accuracy of the method that the rule takes less that of the control, as `value`.

    One row for each pair and seed: the rule takes a method in each fold, by the spectrum there.
    """
    spectra = table[table["part"] == "pair"].set_index(["pair", "run", "fold"])["negative_share"]
    folds: Any = (
        _tested(table)
        .pivot_table(index=["pair", "run", "fold"], columns="method", values="accuracy")
        .iterrows()
    )
    gains = [
        {
            "pair": key[0], "run": key[1], "method": (method := chosen_by_rule(spectra[key])),
            "value": fold[method] - fold[CONTROL],
        }
        for key, fold in folds
    ]  # fmt: skip
    gained = pd.DataFrame(gains)
    kept = gained["pair"].isin(found.index.get_level_values("pair").unique())
    return named(gained[kept])


def unseen(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of the data sets that were not in the first atlas, by the column or level `pair`."""
    known = pairs()
    names = rows["pair"] if "pair" in rows else rows.index.get_level_values("pair")
    return rows[[not known[name].seen for name in names]]


def at_equal_time(table: pd.DataFrame, budget: float) -> pd.DataFrame:
    """Accuracies on the first fold of the first seed of what is ready in a budget; else of k-NN.

    One row per pair; columns are methods.
    """
    spent = table[table["part"] == "times"]
    seconds = (spent["selection_seconds"] + spent["seconds"]).groupby(
        [spent["pair"], spent["method"]]
    )
    first = spent.pivot_table(index="pair", columns="method", values="accuracy", sort=False)
    ready = seconds.first().unstack().reindex(first.index)[first.columns] <= budget
    nearest: Any = first["k-NN"]
    return first.where(ready, nearest, axis=0)


def growth(programs: pd.DataFrame, limit: float) -> dict[str, Estimate]:
    """How the seconds of a proof grow: the exponents of n and C, the factor for 10 points of share.

    log(seconds) = a log n + b negative + c log C + d + noise, with normal noise, and censored where
    the limit ended the search, whose seconds are those until it ends by itself; by maximum
    likelihood.

    Parameters
    ----------
    programs : DataFrame
        As `misses` makes it.
    limit : float
        Seconds after which a search is ended.
    """
    ended = (programs["proved_within"] <= CLOSE) & (programs["seconds"] < limit)
    closed = ended.to_numpy()
    seconds = np.where(closed, np.maximum(programs["seconds"].to_numpy(), 1e-3), limit)
    features = np.column_stack([
        np.log(programs["n"]), programs["negative_share"], np.log(programs["C"]),
        np.ones(len(programs)),
    ])  # fmt: skip
    sets = list(programs.groupby("dataset").indices.values())
    draws = np.random.default_rng(0)
    start = censored_fit(features, np.log(seconds), closed)
    found = []
    for _ in range(RESAMPLES // 50):
        rows = np.concatenate([sets[k] for k in draws.integers(len(sets), size=len(sets))])
        if closed[rows].sum() >= 5:
            found.append(censored_fit(features[rows], np.log(seconds[rows]), closed[rows], start))

    def told(change: Callable[[Array], Any]) -> Estimate:
        return _estimate(float(change(start)), [change(each) for each in found], len(sets))

    return {
        "n": told(lambda each: each[0]),
        "share": told(lambda each: np.exp(0.1 * each[1])),
        "C": told(lambda each: each[2]),
    }


def censored_fit(A: Array, t: Array, seen: NDArray[np.bool_], start: Array | None = None) -> Array:
    """Coefficients x of t = Ax + σ·noise, and log σ, where t is only a lower bound if not seen."""
    from scipy.optimize import minimize
    from scipy.stats import norm

    if start is None:
        x = np.linalg.lstsq(A, t, rcond=None)[0]
        start = np.append(x, np.clip(np.log(np.std(t - A @ x) + 1e-9), *LOG_NOISE))

    def loss(given: Array) -> tuple[float, Array]:
        x, sigma = given[:-1], np.exp(given[-1])
        z = (t - A @ x) / sigma
        hazard = np.exp(norm.logpdf(z) - norm.logsf(z))
        value = 0.5 * np.sum(z[seen] ** 2) + seen.sum() * given[-1] - np.sum(norm.logsf(z[~seen]))
        weights = np.where(seen, z, hazard)  # of -dz
        slope = -A.T @ weights / sigma
        scale = seen.sum() - np.sum(weights * z)
        return float(value), np.append(slope, scale)

    bounds = [(None, None)] * A.shape[1] + [LOG_NOISE]
    found: Array = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds).x
    return found


def proof_shares(table: pd.DataFrame) -> pd.DataFrame:
    """The tested fits of nonconvex programs: whether `proved`, n that train, and C if any.

    A search that fails has proved nothing. Fits whose chosen kernel is not indefinite are left out.
    """
    rows = table[(table["part"] == "proofs") & (table["method"] != "")]
    rows = rows[~(rows["negative_share"] <= CONVEX)]  # one that failed has no share
    C = rows["chosen"].map(_chosen_C)
    spectra = table[table["part"] == "pair"].set_index(["pair", "run", "fold"])["n"].to_dict()
    n = [spectra[pair, seed, fold] for pair, seed, fold in _places(rows)]
    return rows.assign(
        proved=rows["proved_within"] <= CLOSE, C=C.where(rows["method"] == "SVMDual"), n=n
    )


def proof_gains(table: pd.DataFrame) -> pd.DataFrame:
    """The accuracy of the search with a proof less that of the usual one, as `value`.

    One row for each tested fit of `SVMDual` in the first seed, with the kernel and C of the study.
    """
    keys = ["pair", "run", "fold"]
    found = [
        table[(table["part"] == part) & (table["method"] == "SVMDual") & (table["error"] == "")]
        .set_index(keys)["accuracy"]
        for part in ("proofs", "study")
    ]  # fmt: skip
    gains = (found[0] - found[1].reindex(found[0].index)).rename("value").reset_index()
    return named(gains.assign(run=gains["fold"]))


def _places(rows: pd.DataFrame) -> Any:
    """Pair, seed and fold of each row."""
    return zip(rows["pair"], rows["run"], rows["fold"], strict=True)


def at_ends(table: pd.DataFrame) -> dict[str, dict[str, float]]:
    """The share of the tested fits of each method that chose an end of a grid, by parameter.

    Only distances, whose kernels have a form, have a γ.
    """
    rows = table[(table["part"] == "study") & (table["error"] == "")]
    told = [
        {"method": method, "parameter": _parameter(end)}
        for method, ends in zip(rows["method"], rows["ends"], strict=True)
        for end in filter(None, ends.split("; "))
    ]
    counts: Any = pd.DataFrame(told, columns=["method", "parameter"]).value_counts().to_dict()
    fits = rows["method"].value_counts().to_dict()
    formed = rows[rows["chosen"].str.contains("form=")]["method"].value_counts().to_dict()
    found: dict[str, dict[str, float]] = {str(method): {} for method in fits}
    for (method, parameter), count in counts.items():
        found[method][parameter] = count / (formed if parameter == "gamma" else fits)[method]
    return found


def mean_of_tuned(found: Mapping[str, Mapping[str, float]], kind: str) -> float:
    """The mean share over the methods that tune a parameter."""
    tuned = [name for name in found if kind == "gamma" or kind in METHODS[name]]
    return float(np.mean([found[name].get(kind, 0.0) for name in tuned]))


def _parameter(end: str) -> str:
    """The parameter of an end: "C" of "C=10", "gamma" of "form=gaussian, relative_gamma=10"."""
    return "gamma" if "gamma" in end else end.partition("=")[0]
