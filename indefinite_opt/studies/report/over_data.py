"""A study over several data sets: its table, ranks of the methods, and tests of differences.

The tests take the mean of each method on each data set as one observation (Demšar 2006, Statistical
comparisons of classifiers over multiple data sets, JMLR 7).
"""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.errors import ParameterError
from indefinite_opt.figures import Score
from indefinite_opt.foundation import Array
from indefinite_opt.quadratic import Claim, at_most
from indefinite_opt.studies.metrics import METRICS
from indefinite_opt.studies.report.verdict import (
    CLOSE,
    LEVEL,
    below_mean_in_words,
    choice_in_words,
    ends_in_words,
    holm,
    listed,
    near_chance,
    near_chance_in_words,
    told_apart,
)
from indefinite_opt.workflow import aligned, html_table, latex_table, markdown_table

if TYPE_CHECKING:
    import pandas as pd

RANK = "mean rank"

DIGITS = 12
"""Decimals up to which scores are compared: means of equal scores differ by their rounding."""

MOST_COLUMNS, LONGEST_HEAD = 5, 20
"""Methods, and characters of their names, for which data sets stand in rows."""


class Scores(NamedTuple):
    """The means of the metric by which a study chooses, data sets × methods, and their spread."""

    score: Score
    data: list[str]
    methods: list[str]
    means: Array
    """(data sets, methods); NaN where every division failed."""
    spread: Array
    """NaN where there is a single number."""
    failed: Array
    """Numbers of divisions that failed."""
    what: str
    """What the numbers are."""

    @classmethod
    def of(cls, outcome: Any) -> Scores:
        """Those of a `StudyOutcome`."""
        metric, study = METRICS[outcome.study.select], outcome.study
        found = {(row["data"], row["method"]): row for row in outcome.table}
        data, methods = list(study.sources), list(study.grids)

        def column(name: str) -> Array:
            return np.array(
                [[found[d, m].get(name, math.nan) for m in methods] for d in data], dtype=float
            )

        failed = column("failed")
        several = column("divisions") - failed > 1
        parts = "runs" if column("runs").max() > 1 else "divisions"
        spread = np.where(several, column(f"{metric.name}_sd"), math.nan)
        known = np.isfinite(spread).any()
        around = f": mean ± standard deviation over the {parts}" if known else ""
        what = f"{metric.score.head}{around}; {study.plan.protocol}"
        return cls(metric.score, data, methods, column(metric.name), spread, failed, what)

    @property
    def gains(self) -> Array:
        """The scores, of which larger ones are better; NaN where any division failed."""
        sign = 1.0 if self.score.larger_is_better else -1.0
        return np.where(self.failed > 0, math.nan, np.round(sign * self.means, DIGITS))

    @property
    def ranks(self) -> Array:
        """Mean rank of each method over the data sets, 1 for the best; ties share their ranks.

        A method that failed in a division of a data set has the last rank there.
        """
        return np.mean([_ranked(row) for row in self.gains], axis=0)

    def text(self, i: int, j: int) -> str:
        """A mean with its spread; – where every division failed."""
        mean, spread = float(self.means[i, j]), float(self.spread[i, j])
        if math.isnan(mean):
            return "–"
        return self.score.number(mean, None if math.isnan(spread) else spread)

    def is_best(self, i: int, j: int) -> bool:
        """Whether no method is better on the data set, as far as the printed digits tell."""
        gains = self.gains[i]
        if np.isnan(gains[j]):
            return False
        best = self.means[i, int(np.nanargmax(gains))]
        return self.score.number(float(self.means[i, j])) == self.score.number(float(best))


def _ranked(scores: Array) -> Array:
    known = np.where(np.isnan(scores), -np.inf, scores)
    above = (known[None, :] > known[:, None]).sum(axis=1)
    equal = (known[None, :] == known[:, None]).sum(axis=1)
    ranked: Array = above + 0.5 * (equal + 1.0)
    return ranked


def cells(scores: Scores) -> tuple[pd.DataFrame, NDArray[np.bool_]]:
    """The texts of the table, and which of them are the best of each data set or the best rank.

    Data sets stand in rows, and the mean ranks in the last one. Where there are more methods than
    that, or their names are long, these stand in rows, the best mean rank first.
    """
    import pandas as pd

    ranks, columns = scores.ranks, range(len(scores.methods))
    texts = [[scores.text(i, j) for j in columns] for i in range(len(scores.data))]
    bold = [[scores.is_best(i, j) for j in columns] for i in range(len(scores.data))]
    shown = np.array([*texts, [f"{rank:.2f}" for rank in ranks]], dtype=object)
    best = np.array([*bold, ranks == ranks.min()], dtype=bool)
    head, names, others = "data", [*scores.data, RANK], scores.methods
    if methods_in_rows(scores):
        order = np.argsort(ranks, kind="stable")
        shown, best = shown[:, order].T, best[:, order].T
        head, names, others = "method", [scores.methods[j] for j in order], names
    table = pd.DataFrame(shown, columns=others)
    table.insert(0, head, names, allow_duplicates=True)
    return table, np.insert(best, 0, False, axis=1)


def methods_in_rows(scores: Scores) -> bool:
    """Whether there are too many methods for columns, or too long names of them."""
    most = max(MOST_COLUMNS, len(scores.data))
    return len(scores.methods) > most or max(map(len, scores.methods)) > LONGEST_HEAD


def text(outcome: Any) -> str:
    """The table and the conclusions, at most 80 columns wide."""
    scores = Scores.of(outcome)
    table, best = cells(scores)
    return aligned(f"{scores.what}; * marks the best", table, conclusions(outcome), best)


def html(outcome: Any) -> str:
    """The same in HTML, with the best in bold."""
    scores = Scores.of(outcome)
    table, best = cells(scores)
    return html_table(scores.what, table, conclusions(outcome), best)


def to_markdown(outcome: Any) -> str:
    """The same in Markdown, with the best in bold."""
    scores = Scores.of(outcome)
    table, best = cells(scores)
    told = [*conclusions(outcome), f"The table has {scores.what}; the best is bold."]
    return "\n\n".join([markdown_table(table, list(table)[1:], best), *told]) + "\n"


def to_latex(outcome: Any, caption: str, label: str, chosen: bool = False) -> str:
    """The table for a paper that loads booktabs, with the best of each data set in bold."""
    if chosen:
        expected = "False where data sets are columns or rows, as each has parameters of its own"
        raise ParameterError("chosen", expected, "True")
    scores = Scores.of(outcome)
    table, best = cells(scores)
    ruled = () if methods_in_rows(scores) else (len(table) - 1,)
    told = caption or f"{scores.what}. {_kernels(outcome)}"
    return latex_table(table, list(table)[1:], told, label, best, ruled)


def _kernels(outcome: Any) -> str:
    """The kernels of the data sets, as a sentence."""
    found: dict[str, list[str]] = {}
    for name, told in outcome.kernels.items():
        found.setdefault(told, []).append(name)
    several = (f"{told} ({', '.join(names)})" for told, names in found.items())
    return f"Kernel: {next(iter(found)) if len(found) == 1 else '; '.join(several)}"


def conclusions(outcome: Any) -> list[str]:
    """What failed, which methods differ over the data sets beyond chance, and what was proved."""
    scores = Scores.of(outcome)
    return [
        *_failures(outcome), *_differences(scores), *_near_chance(outcome, scores),
        *_below_mean(scores), *_ends(outcome), *_proofs(outcome),
        *choice_in_words(outcome.chosen_by_shown_scores),
    ]  # fmt: skip


def _failures(outcome: Any) -> list[str]:
    """How many fits failed, of which methods on which data, and the first message."""
    failed = [row for row in outcome.chosen_rows if row["error"]]
    if not failed:
        return []
    where = list(dict.fromkeys(f"{row['method']} on {row['data']}" for row in failed))
    shown = where[:3] + ([f"{len(where) - 3} more"] if len(where) > 3 else [])
    words = " ".join(str(failed[0]["error"]).split()).rstrip(".")
    return [
        f"{len(failed)} of {len(outcome.chosen_rows)} fits failed, of {listed(shown)}, where the "
        f"method has the last rank. The first message is {words}."
    ]


def _differences(scores: Scores) -> list[str]:
    """The best mean rank, and the tests of the others against it."""
    gains, methods, count = scores.gains, scores.methods, len(scores.data)
    if len(methods) < 2 or count < 2:
        return []
    ranks = scores.ranks
    equal = [methods[j] for j in np.flatnonzero(ranks == ranks.min())]
    shared = f", shared by {listed(equal[1:])}" if equal[1:] else ""
    told = f"The best mean rank is {ranks.min():.2f}, of {equal[0]}{shared}."
    whole = np.flatnonzero(~np.isnan(gains).any(axis=0))
    left_out = [name for j, name in enumerate(methods) if j not in whole]
    if left_out:
        told += f" Tests leave out what failed: {listed(left_out)}."
    if whole.size < 2:
        return [told]
    tested, names = gains[:, whole], [methods[j] for j in whole]
    best = int(np.argmin(ranks[whole]))
    return [f"{told} {_signed_ranks(tested, names, best)}", *_friedman(tested)]


def _signed_ranks(gains: Array, names: list[str], best: int) -> str:
    """Which methods are worse than the best one by Wilcoxon's tests, if any could be."""
    count, others = gains.shape[0], gains.shape[1] - 1
    adjusted = f" for {others} comparisons" if others > 1 else ""
    least = others * 2.0 ** (1 - count)
    if least > LEVEL:
        holms = f" after Holm's adjustment{adjusted}" if adjusted else ""
        return (
            f"{count} data sets are too few to test the others against it: Wilcoxon's signed-rank "
            f"test has no p-value below {min(least, 1.0):.2g}{holms}."
        )
    found = signed_rank_tests(gains, best)
    worse = [names[j] for j, p in found.items() if p < LEVEL]
    open_ = [names[j] for j, p in found.items() if not p < LEVEL]
    holms = f", Holm's adjustment{adjusted}" if adjusted else ""
    how = f"(Wilcoxon's signed-rank test over {count} data sets, {100 * LEVEL:g} % level{holms})"
    return told_apart(worse, open_, how)


def _near_chance(outcome: Any, scores: Scores) -> list[str]:
    """Which methods are at the level of the largest class, and on which data."""
    if scores.score.name != "accuracy":
        return []
    every: dict[str, list[str]] = {}
    some: list[str] = []
    for (name, data), means in zip(outcome.study.sources.items(), scores.means, strict=True):
        if data.test is None:  # else the points of the test are others
            near = near_chance(data.y, dict(zip(scores.methods, means.tolist(), strict=True)))
            others = [method for method in scores.methods if method not in near]
            if len(near) > max(1, 2 * len(others)) and not np.isnan(means).any():
                but = f" but {listed(others)}" if others else ""
                every.setdefault(but, []).append(name)
            else:
                some += [f"{method} on {name}" for method in near]
    of = "the points of each data set"
    told = [
        near_chance_in_words(f"All methods{but} on {listed(names)}", True, of)
        for but, names in every.items()
    ]
    if some:
        told.append(near_chance_in_words(listed(some), len(some) > 1, of))
    return told


def _below_mean(scores: Scores) -> list[str]:
    """Which methods of regression are worse than a constant, and on which data."""
    if scores.score.name != "r2":
        return []
    below = [np.flatnonzero(column < 0.0).tolist() for column in scores.means.T]
    who = [
        f"{method} on {listed([scores.data[i] for i in places])}"
        for method, places in zip(scores.methods, below, strict=True)
        if places
    ]
    return below_mean_in_words(who, several=sum(map(len, below)) > 1)


def _ends(outcome: Any) -> list[str]:
    """Which ends of grids are chosen, and by which methods on which data."""
    found: dict[tuple[str, str], list[str]] = {}
    for row in outcome.table:
        for end in row.get("ends", ()):
            found.setdefault((row["method"], end), []).append(row["data"])
    return ends_in_words([
        (f"{method} on {listed(names)}", end) for (method, end), names in found.items()
    ])  # fmt: skip


FEWEST_DATA = 5
"""The least number of data sets for Friedman's test, whose p-value is that of a limit of many."""


def _friedman(gains: Array) -> list[str]:
    """The p-value of Friedman's test, as a sentence."""
    overall = friedman(gains) if len(gains) >= FEWEST_DATA else math.nan
    if math.isnan(overall):
        return []
    return [f"The p-value of Friedman's test, that all methods are alike, is {overall:.2g}."]


def friedman(means: Array) -> float:
    """The p-value of Friedman's test for three methods or more; NaN for fewer or equal ones."""
    from scipy.stats import friedmanchisquare

    if means.shape[1] < 3:
        return math.nan
    with warnings.catch_warnings(), np.errstate(invalid="ignore", divide="ignore"):
        warnings.simplefilter("ignore")  # where all methods are equal
        return float(friedmanchisquare(*means.T).pvalue)


def signed_rank_tests(means: Array, best: int) -> dict[int, float]:
    """Adjusted p-values of all methods against the best one; 1 where there is no difference."""
    from scipy.stats import wilcoxon

    p_values = {}
    for j in range(means.shape[1]):
        gain = np.round(means[:, best] - means[:, j], DIGITS)
        if j != best:
            p_values[j] = float(wilcoxon(gain).pvalue) if np.any(gain) else 1.0
    return dict(zip(p_values, holm(list(p_values.values())), strict=True))


def critical_difference(methods: int, data_sets: int, level: float = LEVEL) -> float:
    """The difference of mean ranks from which two methods differ (Nemenyi; Demšar 2006, (6)).

    CD = q sqrt(k(k + 1)/(6N)) for k methods on N data sets, where q√2 is a quantile of the
    studentized range.

    >>> round(critical_difference(4, 14), 2)
    1.25
    """
    from scipy.stats import studentized_range

    q = float(studentized_range.ppf(1.0 - level, methods, np.inf)) / math.sqrt(2.0)
    return q * math.sqrt(methods * (methods + 1) / (6.0 * data_sets))


def nemenyi_in_words(data_sets: int) -> str:
    """What the critical difference is that of."""
    return f"Nemenyi's test over {data_sets} data sets, {100 * LEVEL:g} % level"


def _proofs(outcome: Any) -> list[str]:
    """How many fits are proved, by those of their metrics that the study has."""
    metrics, told = outcome.study.plan.metrics, []
    good = [row for row in outcome.chosen_rows if not row["error"]]
    claims = [row["claim"] for row in good if row["claim"] != "-"] if "claim" in metrics else []
    if claims:
        known = claims.count(Claim.GLOBAL.name)
        told.append(f"{known} of {len(claims)} fits are proved global optima.")
    shares = [row["proved_within"] for row in good] if "proved_within" in metrics else []
    shares = [share for share in shares if not math.isnan(share)]
    if shares:
        close = sum(share <= CLOSE for share in shares)
        told.append(
            f"{close} of {len(shares)} fits are proved to be within {at_most(CLOSE)} of the global "
            "optimum, relative to its size."
        )
    return [" ".join(told)] if told else []
