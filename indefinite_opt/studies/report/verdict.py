"""What a comparison shows, in a few sentences that say no more than its numbers do.

Methods differ beyond chance, or not, by tests on their scores, such as accuracies, on the same test
sets.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from indefinite_opt.figures import ComparisonLike, records_of, row_labels
from indefinite_opt.foundation import EPS, finite_array
from indefinite_opt.problem import KernelProblem
from indefinite_opt.quadratic import at_most
from indefinite_opt.studies.data import described_class


class Difference(NamedTuple):
    """The best of several methods against another one, with the mean of best minus other.

    The p-value is that of the corrected resampled t-test, adjusted for the number of other methods;
    NaN if it cannot be computed.
    """

    best: str
    other: str
    mean: float
    p_value: float


def corrected_t_test(differences: ArrayLike, test_per_train: float) -> tuple[float, float]:
    """The t statistic and the two-sided p-value of the corrected resampled t-test.

    t = mean(d) / sqrt((1/J + n_test/n_train) var(d)) with J - 1 degrees of freedom, from the
    differences d of the scores of two methods on J divisions. The training sets of resampled
    divisions overlap, so that the variance of the mean is larger than var(d)/J; n_test/n_train is
    1/(k - 1) for k folds. See Nadeau & Bengio (2003), Inference for the generalization error,
    Machine Learning 52, section 4.

    The result is (0, 1) if all differences are zero, and NaN where the variance is zero otherwise,
    or where there are fewer than three divisions.
    >>> t, p = corrected_t_test([0.0, 0.1, 0.2], 0.5)
    >>> round(t, 6), round(p, 6)
    (1.095445, 0.387628)
    """
    values = finite_array("differences", differences, (None,))
    count = values.size
    # With two divisions the variance has a single degree of freedom.
    if count < 3 or not math.isfinite(test_per_train):
        return math.nan, math.nan
    if not values.any():
        return 0.0, 1.0
    variance = float(np.var(values, ddof=1))
    # Equal differences differ by the rounding of the scores only.
    if variance <= (count * EPS * np.abs(values).max()) ** 2:
        return math.nan, math.nan
    from scipy.special import stdtr  # scipy.stats takes half a second to load

    statistic = float(values.mean()) / math.sqrt((1.0 / count + test_per_train) * variance)
    return statistic, float(2.0 * stdtr(count - 1, -abs(statistic)))


def holm(p_values: Sequence[float]) -> list[float]:
    """p-values adjusted for their number by Holm's step-down method; NaN stays NaN.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    known = sorted((p, i) for i, p in enumerate(p_values) if not math.isnan(p))
    adjusted, least = [math.nan] * len(p_values), 0.0
    for rank, (p, i) in enumerate(known):
        least = max(least, min(1.0, (len(known) - rank) * p))
        adjusted[i] = least
    return adjusted


def best_against_others(
    scores: Mapping[str, Sequence[float]], test_per_train: float
) -> list[Difference]:
    """The method of the best mean against every other one, in the order in which they are given.

    `scores` are those of each method on the same divisions; NaN where it failed. A method that
    failed anywhere is left out, and one that has other divisions than the best. The best method is
    chosen by the scores that are compared, which favours it.
    """
    whole = {
        name: np.asarray(of_method, float)
        for name, of_method in scores.items()
        if len(of_method) and np.isfinite(of_method).all()
    }
    if len(whole) < 2:
        return []
    best = max(whole, key=lambda name: float(whole[name].mean()))
    gains = {
        name: whole[best] - values
        for name, values in whole.items()
        if name != best and values.size == whole[best].size
    }
    adjusted = holm([corrected_t_test(gain, test_per_train)[1] for gain in gains.values()])
    return [
        Difference(best, name, float(gain.mean()), p)
        for (name, gain), p in zip(gains.items(), adjusted, strict=True)
    ]


LEVEL = 0.05
"""Probability of a false difference, over all comparisons with the best method, that the sentences
accept: the usual level of the field."""


CLOSE = 1e-4
"""The relative gap that counts as proved in the sentences: the default of `bound`."""


def conclusions(comparison: ComparisonLike) -> list[str]:
    """Which methods differ beyond chance, what was proved, and how indefinite the kernel is.

    There is an entry for each subject, of a sentence or two.
    """
    problem = comparison.problem
    return [
        *_described(problem), *_ranking(comparison), *_near_chance(comparison),
        *_below_mean(comparison), *ends_in_words(comparison.ends), _proofs(comparison),
        *choice_in_words(comparison.chosen_by_shown_scores), _negative_part(problem),
    ]  # fmt: skip


def _described(problem: KernelProblem) -> list[str]:
    """Which class is described, of one class."""
    if problem.task != "one class":
        return []
    described = described_class(problem)
    if described is None:
        return [
            "There are no labels. Each method is measured by the share of the test points that it "
            "rejects, to compare with ν, its bound on that share of the training points."
        ]
    count = int(np.sum(problem.labels == described))
    return [
        f"The class that is described is {problem.meaning(described)}, {count} of {problem.n} "
        "points; the others are outliers, with which methods are tested only. The share of test "
        "points of this class that count as outliers is called rejected, to compare with ν."
    ]


def _negative_part(problem: KernelProblem) -> str:
    """How much of the centred kernel is negative, as a sentence."""
    if problem.asymmetric:
        return "The kernel matrix is asymmetric, and has no signature."
    if not problem.curvature_known:
        return "The spectrum of the kernel is not known, as its rows are computed on demand."
    p, q = problem.signature
    zero = f" Its {problem.counted_as_zero}." if problem.counted_as_zero else ""
    if q == 0:
        psd = " up to rounding" if zero else ""
        return (
            f"The centred kernel matrix has signature ({p}, 0): it is positive semidefinite{psd}."
            f"{zero}"
        )
    return (
        f"The negative eigenvalues are {100 * problem.negative_share:.3g} % of the spectrum of the "
        f"centred kernel matrix (of the sum of magnitudes), whose signature is ({p}, {q}).{zero}"
    )


def _ranking(comparison: ComparisonLike) -> list[str]:
    """The best method, those that are significantly worse, and those that are not."""
    rows, labels = records_of(comparison.summary), row_labels(comparison)
    scores, means, score = {}, {}, comparison.scores[0]
    if not score.larger_is_better:
        return []  # to reject less is not better by itself
    for row, label in zip(rows, labels, strict=True):
        mine = [one for one in comparison.chosen_rows if one["method"] == row["method"]]
        scores[label] = [float(one[score.name]) for one in mine]
        means[label] = row[score.name]
    found = best_against_others(scores, comparison.test_per_train)
    if not found:
        return []
    best = found[0].best
    equal = [one.other for one in found if one.mean == 0.0]
    shared = f", shared by {listed(equal)}" if equal else ""
    told = f"The best mean {score.title} is {score.text(means[best])}, of {best}{shared}."
    if all(math.isnan(one.p_value) for one in found):
        return [f"{told} Differences cannot be tested with so few folds."]
    worse = [one.other for one in found if one.p_value < LEVEL]
    open_ = [one.other for one in found if not one.p_value < LEVEL]
    others = f"{len(found)} comparison{'s' * (len(found) != 1)}"
    how = (
        f"(corrected resampled t-test of Nadeau and Bengio (2003), {len(scores[best])} folds, "
        f"{100 * LEVEL:g} % level, Holm's adjustment for {others})"
    )
    return [f"{told} {told_apart(worse, open_, how)}"]


def near_chance(y: ArrayLike, accuracies: Mapping[str, float]) -> list[str]:
    """The methods that are not significantly more accurate than the largest class for every point.

    A method of accuracy a labels na of n points correctly; a share p is in the largest class. By
    chance they are that many or more with the probability Σ_{j ≥ na} (n over j) p^j (1-p)^(n-j),
    which is then at least `LEVEL`.

    >>> near_chance([1, 1, -1, -1] * 50, {"A": 0.53, "B": 0.6})
    ['A']
    """
    from scipy.special import bdtrc

    counts = np.unique(np.asarray(y), return_counts=True)[1]
    n = int(counts.sum())
    return [
        name
        for name, accuracy in accuracies.items()
        if not math.isnan(accuracy) and bdtrc(round(n * accuracy) - 1, n, counts.max() / n) >= LEVEL
    ]


def near_chance_in_words(who: str, several: bool, of: str) -> str:
    """The sentence on methods that `near_chance` names; `of` says of which points the test is."""
    are = "are" if several else "is"
    return (
        f"{who} {are} not significantly more accurate than the prediction of the largest "
        f"class for every point (binomial test of {of}, {100 * LEVEL:g} % level)."
    )


def _near_chance(comparison: ComparisonLike) -> list[str]:
    """Which methods are at the level of the largest class, where folds cover the data."""
    problem = comparison.problem
    if problem.task != "classification" or math.isnan(comparison.test_per_train):
        return []
    rows, labels = records_of(comparison.summary), row_labels(comparison)
    accuracies = {name: float(row["accuracy"]) for name, row in zip(labels, rows, strict=True)}
    found = near_chance(problem.labels, accuracies)
    if not found:
        return []
    return [near_chance_in_words(listed(found), len(found) > 1, f"{problem.n} points")]


def _below_mean(comparison: ComparisonLike) -> list[str]:
    """Which methods of regression are worse than a constant."""
    if comparison.problem.task != "regression":
        return []
    rows, labels = records_of(comparison.summary), row_labels(comparison)
    return below_mean_in_words([
        name for name, row in zip(labels, rows, strict=True) if float(row["r2"]) < 0.0
    ])  # fmt: skip


def below_mean_in_words(methods: Sequence[str], several: bool = False) -> list[str]:
    """The sentence on methods whose mean R² is negative, in `several` places.

    >>> below_mean_in_words(["NuSVR"])
    ['NuSVR predicts worse than the mean of the targets does: its mean R² is negative.']
    """
    if not methods:
        return []
    s, their = ("s", "its") if len(methods) == 1 and not several else ("", "their")
    return [
        f"{listed(methods)} predict{s} worse than the mean of the targets does: {their} mean R² is "
        "negative."
    ]


def ends_in_words(ends: Sequence[tuple[str, str]]) -> list[str]:
    """The sentence on methods and the ends of their grids that are chosen.

    >>> ends_in_words([("SVMDual", "C=100"), ("LPSVM", "C=100"), ("SVMDual", "gamma=1")])[0]
    'In half of the divisions or more the best value is at an end of its grid: C=100 of SVMDual \
and LPSVM, and gamma=1 of SVMDual. A wider grid may have better values.'
    """
    methods: dict[str, list[str]] = {}
    for method, end in ends:
        methods.setdefault(end, []).append(method)
    if not methods:
        return []
    told = [f"{end} of {listed(names)}" for end, names in methods.items()]
    rest = f"{', '.join(told[:-1])}, and {told[-1]}" if len(told) > 1 else told[0]
    return [
        "In half of the divisions or more the best value is at an end of its grid: "
        f"{rest}. A wider grid may have better values."
    ]


def choice_in_words(by_shown_scores: bool) -> list[str]:
    """The warning of scores by which parameters were chosen, if they were."""
    if not by_shown_scores:
        return []
    return [
        "Parameters were chosen by the scores that are shown, which favours methods of many "
        "parameters; `Nested` chooses them on training points."
    ]


def told_apart(worse: Sequence[str], open_: Sequence[str], how: str) -> str:
    """The sentence on methods that are worse than the best one, and on those that may not be.

    A group of more than three is not listed where the other group is smaller.

    >>> told_apart(["A", "B", "C", "D"], ["E"], "(5 % level)")
    'It is significantly better than every other tested method but E (5 % level).'
    """
    if not worse:
        return f"No other method is significantly worse {how}."
    if len(worse) > max(3, len(open_)):
        exceptions = f" but {listed(open_)}" if open_ else ""
        return f"It is significantly better than every other tested method{exceptions} {how}."
    others = "the other tested methods" if len(open_) > 3 else listed(open_) if open_ else ""
    rest = f", but not than {others}" if others else ""
    return f"It is significantly better than {listed(worse)}{rest} {how}."


def _proofs(comparison: ComparisonLike) -> str:
    """How many rows have each claim in every fold, and how many fits a bound that is close."""
    rows = [row for row in records_of(comparison.summary) if row["claim"] != "-"]
    failed = sum(int(row["failed"] == row["divisions"]) for row in records_of(comparison.summary))
    counts = Counter(row["claim"] for row in rows)
    known = counts.pop("GLOBAL", 0)
    sentence = f"{known} of {len(rows)} solved problems are proved global optima in every fold"
    if counts:
        others = [f"{n} {'is' if n == 1 else 'are'} {claim}" for claim, n in counts.most_common()]
        sentence += f"; {listed(others)}, where a better point may exist"
    sentence += f"; {failed} failed." if failed else "."
    if not counts:
        return sentence
    within = [row["proved_within"] for row in comparison.chosen_rows if row["claim"] != "-"]
    close = sum(share <= CLOSE for share in within)
    return (
        f"{sentence} {close} of {len(within)} fits are proved to be within {at_most(CLOSE)} of the "
        "global optimum, relative to its size."
    )


def listed(names: Sequence[str]) -> str:
    """Names in a sentence: A, B and C."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
