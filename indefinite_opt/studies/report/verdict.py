"""What a comparison shows, in a few sentences that say no more than its numbers do."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from indefinite_opt.figures import ComparisonLike, records_of, row_labels
from indefinite_opt.problem import KernelProblem
from indefinite_opt.studies.differences import best_against_others
from indefinite_opt.studies.methods import NO_SOLVER

LEVEL = 0.05
"""Probability of a false difference, over all comparisons with the best method, that the sentences
accept: the usual level of the field."""


def conclusions(comparison: ComparisonLike) -> list[str]:
    """Which methods differ beyond chance, what was proved, and how indefinite the kernel is.

    There is an entry for each subject, of a sentence or two.
    """
    told = [*_ranking(comparison), *_baselines(comparison), _proofs(comparison)]
    return [*told, _negative_part(comparison.problem)]


def _negative_part(problem: KernelProblem) -> str:
    """How much of the centred kernel is negative, as a sentence."""
    if not problem.curvature_known:
        return "The spectrum of the kernel is not known, as its rows are computed on demand."
    p, q = problem.signature
    if q == 0:
        return f"The centred kernel matrix has signature ({p}, 0): it is positive semidefinite."
    return (
        f"The negative eigenvalues are {100 * problem.negative_share:.3g} % of the spectrum of the "
        f"centred kernel matrix (of the sum of magnitudes), whose signature is ({p}, {q})."
    )


def _ranking(comparison: ComparisonLike) -> list[str]:
    """The best method, those that are worse beyond chance, and those that cannot be told apart."""
    rows, labels = records_of(comparison.summary), row_labels(comparison)
    scores, accuracy = {}, {}
    frame = comparison.frame
    for row, label in zip(rows, labels, strict=True):
        mine = (frame["formulation"] == row["formulation"]) & (frame["solver"] == row["solver"])
        scores[label] = [math.nan if math.isnan(a) else float(a) for a in frame[mine]["accuracy"]]
        accuracy[label] = row["accuracy"]
    found = best_against_others(scores, comparison.test_per_train)
    if not found:
        return []
    best = found[0].best
    equal = [one.other for one in found if one.mean == 0.0]
    shared = f", shared by {_listed(equal)}" if equal else ""
    told = f"The best mean accuracy is {100 * accuracy[best]:.1f} %, of {best}{shared}."
    if all(math.isnan(one.p_value) for one in found):
        return [f"{told} Differences cannot be tested with so few folds."]
    worse = [one.other for one in found if one.p_value < LEVEL]
    open_ = [one.other for one in found if not one.p_value < LEVEL]
    others = f"{len(found)} comparison{'s' * (len(found) != 1)}"
    how = (
        f"(corrected resampled t-test of Nadeau and Bengio (2003), {len(scores[best])} folds, "
        f"{100 * LEVEL:g} % level, Holm's adjustment for {others})"
    )
    if not worse:
        return [f"{told} No other method is significantly worse {how}."]
    rest = f"; {_listed(open_)} cannot be told from it" if open_ else ""
    return [f"{told} It is significantly better than {_listed(worse)}{rest} {how}."]


def _baselines(comparison: ComparisonLike) -> list[str]:
    """How many formulations reach the mean accuracy of the best baseline."""
    rows = [row for row in records_of(comparison.summary) if not math.isnan(row["accuracy"])]
    baselines = [row for row in rows if row["solver"] == NO_SOLVER]
    others = [row["accuracy"] for row in rows if row["solver"] != NO_SOLVER]
    if not (baselines and others):
        return []
    best = max(baselines, key=lambda row: row["accuracy"])
    reached = sum(accuracy >= best["accuracy"] for accuracy in others)
    return [
        f"The best baseline, {best['formulation']}, has {100 * best['accuracy']:.1f} %, which "
        f"{reached} of {len(others)} formulations reach."
    ]


def _proofs(comparison: ComparisonLike) -> str:
    """How many rows have each claim in every fold."""
    rows = [row for row in records_of(comparison.summary) if row["claim"] != "-"]
    failed = sum(int(row["failed"] == row["cells"]) for row in records_of(comparison.summary))
    counts = Counter(row["claim"] for row in rows)
    known = counts.pop("GLOBAL", 0)
    sentence = f"{known} of {len(rows)} solved problems are proved global optima in every fold"
    if counts:
        others = ", ".join(f"{count} {claim}" for claim, count in counts.most_common())
        sentence += f"; the others are {others}, where a better point may exist"
    return f"{sentence}; {failed} failed." if failed else f"{sentence}."


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
