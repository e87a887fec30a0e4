"""A study over several data sets: its table, ranks of the methods, and tests of differences.

The tests take the mean of each method on each data set as one observation (Demšar 2006, Statistical
comparisons of classifiers over multiple data sets, JMLR 7).
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from indefinite_opt.foundation import Array
from indefinite_opt.quadratic import at_most
from indefinite_opt.studies.metrics import METRICS
from indefinite_opt.studies.report.latex import Cell, latex_table
from indefinite_opt.studies.report.tables import markdown_table
from indefinite_opt.studies.report.verdict import CLOSE, LEVEL, holm, listed
from indefinite_opt.workflow import WIDTH, aligned, html_table

FEWEST_DATA = 5
"""Data sets from which differences over them are tested: of fewer the signed-rank test has no
p-value below 1/16."""

RANK = "mean rank"


class Scores(NamedTuple):
    """The means of the metric by which a study chooses, data sets × methods, and their spread."""

    metric: str
    data: list[str]
    methods: list[str]
    means: Array
    """(data sets, methods); NaN where every division failed."""
    spread: Array

    @classmethod
    def of(cls, outcome: Any) -> Scores:
        """Those of a `StudyOutcome`."""
        metric, study = outcome.study.select, outcome.study
        found = {(row["data"], row["method"]): row for row in outcome.table}
        data, methods = list(study.sources), list(study.grids)

        def grid(name: str) -> Array:
            return np.array(
                [[found[d, m].get(name, math.nan) for m in methods] for d in data], dtype=float
            )

        return cls(metric, data, methods, grid(metric), grid(f"{metric}_sd"))

    @property
    def sign(self) -> float:
        """1 if larger is better, else -1."""
        return METRICS[self.metric].sign

    @property
    def percent(self) -> bool:
        """Whether the metric is a share, which tables show in per cent."""
        return METRICS[self.metric].meaning.startswith("share")

    @property
    def ranks(self) -> Array:
        """Mean rank of each method over the data sets, 1 for the best; ties share their ranks.

        A method that failed on a data set has the last rank there.
        """
        return np.mean([self._ranked(row) for row in self.sign * self.means], axis=0)

    @staticmethod
    def _ranked(scores: Array) -> Array:
        known = np.where(np.isnan(scores), -np.inf, scores)
        above = (known[None, :] > known[:, None]).sum(axis=1)
        equal = (known[None, :] == known[:, None]).sum(axis=1)
        ranked: Array = above + 0.5 * (equal + 1.0)
        return ranked

    def text(self, i: int, j: int) -> str:
        """A mean with its spread; – where every division failed."""
        mean, spread = self.means[i, j], self.spread[i, j]
        if math.isnan(mean):
            return "–"
        if self.percent:
            return f"{100.0 * mean:.1f} ± {100.0 * spread:.1f}"
        return f"{mean:.3g} ± {spread:.2g}"

    def is_best(self, i: int, j: int) -> bool:
        """Whether no other method is better on the data set, up to the printed rounding."""
        best = np.nanmax(self.sign * self.means[i], initial=-np.inf)
        return bool(self.sign * self.means[i, j] >= best - 5e-5)


def title(scores: Scores) -> str:
    """What the numbers of the table are."""
    unit = " in %" if scores.percent else ""
    return f"{scores.metric}{unit}, mean ± standard deviation; * is the best on its data"


def rows(scores: Scores) -> list[dict[str, str]]:
    """The table with data sets in rows, and the mean ranks in the last one."""
    table = [
        {"data": name}
        | {
            method: scores.text(i, j) + ("*" if scores.is_best(i, j) else " ")
            for j, method in enumerate(scores.methods)
        }
        for i, name in enumerate(scores.data)
    ]
    ranks = {m: f"{rank:.2f} " for m, rank in zip(scores.methods, scores.ranks, strict=True)}
    return [*table, {"data": RANK} | ranks]


def turned(table: Sequence[Mapping[str, str]]) -> list[dict[str, str]]:
    """The same table with methods in rows, the best mean rank first."""
    methods = [name for name in table[0] if name != "data"]
    methods.sort(key=lambda method: float(table[-1][method]))
    return [{"method": method} | {row["data"]: row[method] for row in table} for method in methods]


def text(outcome: Any) -> str:
    """The table and the conclusions, at most 80 columns wide where that is possible."""
    scores = Scores.of(outcome)
    table = rows(scores)
    widths = [max(len(name), *(len(row[name]) for row in table)) + 2 for name in table[0]]
    if sum(widths) > WIDTH:
        table = turned(table)
    return aligned(title(scores), table, conclusions(outcome))


def html(outcome: Any) -> str:
    """The same in HTML."""
    scores = Scores.of(outcome)
    return html_table(title(scores), rows(scores), conclusions(outcome))


def to_markdown(outcome: Any) -> str:
    """The same in Markdown."""
    scores = Scores.of(outcome)
    cells = [{name: cell.strip() for name, cell in row.items()} for row in rows(scores)]
    table = markdown_table(cells, scores.methods)
    return "\n".join([*table, *(line for told in conclusions(outcome) for line in ("", told)), ""])


def to_latex(outcome: Any, caption: str, label: str) -> str:
    """The table for a paper that loads booktabs, with the best of each data set in bold."""
    scores = Scores.of(outcome)
    body: list[list[Cell]] = [
        [name, *((scores.text(i, j), scores.is_best(i, j)) for j in range(len(scores.methods)))]
        for i, name in enumerate(scores.data)
    ]
    last: list[Cell] = [
        RANK,
        *((f"{rank:.2f}", bool(rank == scores.ranks.min())) for rank in scores.ranks),
    ]
    head = ["data", *scores.methods]
    told = caption or title(scores).partition(";")[0]
    return latex_table(head, [body, [last]], "l" + "r" * len(scores.methods), told, label)


def conclusions(outcome: Any) -> list[str]:
    """Which methods differ over the data sets beyond chance, and what was proved."""
    return [*_failures(outcome), *_differences(Scores.of(outcome)), *_proofs(outcome)]


def _failures(outcome: Any) -> list[str]:
    failed = [row for row in outcome.chosen_rows if row["error"]]
    if not failed:
        return []
    words = " ".join(str(failed[0]["error"]).split())
    return [f"{len(failed)} of {len(outcome.chosen_rows)} fits failed, the first with {words}"]


def _differences(scores: Scores) -> list[str]:
    """The best mean rank, and the tests of the others against it."""
    ranks, count = scores.ranks, len(scores.data)
    if len(scores.methods) < 2 or count < 2:
        return []
    best = int(np.argmin(ranks))
    told = f"The best mean rank is {ranks[best]:.2f}, of {scores.methods[best]}."
    if count < FEWEST_DATA:
        return [
            f"{told} Differences over {count} data sets are not tested; {FEWEST_DATA} are needed."
        ]
    if np.isnan(scores.means).any():
        return [f"{told} Differences are not tested, as a method failed on a whole data set."]
    found = signed_rank_tests(scores.means, best)
    worse = [scores.methods[j] for j, p in found.items() if p < LEVEL]
    others = [scores.methods[j] for j, p in found.items() if not p < LEVEL]
    how = (
        f"(Wilcoxon's signed-rank test over {count} data sets, {100 * LEVEL:g} % level, Holm's "
        "adjustment)"
    )
    sentence = f"{told} No other method is significantly worse {how}."
    if worse:
        rest = f"; {listed(others)} cannot be distinguished from it" if others else ""
        sentence = f"{told} It is significantly better than {listed(worse)}{rest} {how}."
    overall = friedman(scores.means)
    return [sentence] if math.isnan(overall) else [
        sentence, f"The p-value of Friedman's test, that all methods are alike, is {overall:.2g}."
    ]  # fmt: skip


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
        gain = means[:, best] - means[:, j]
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


def _proofs(outcome: Any) -> list[str]:
    """How many fits have a bound that is close, if the study has asked for it."""
    if "proved_within" not in outcome.study.plan.metrics:
        return []
    known: list[Any] = [
        row["proved_within"] for row in outcome.chosen_rows
        if not row["error"] and not math.isnan(row["proved_within"])
    ]  # fmt: skip
    close = sum(share <= CLOSE for share in known)
    return [
        f"{close} of {len(known)} fits are proved to be within {at_most(CLOSE)} of the global "
        "optimum, relative to its size."
    ]
