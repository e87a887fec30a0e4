"""The data of Guo & Schuurmans' tables: discretised attributes, sizes, and shares of classes."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.naive_bayes import CategoricalNB
from sklearn.tree import DecisionTreeClassifier

import indefinite_opt as iopt
from indefinite_opt import ConfidenceProblem, KernelProblem
from reproduction.declaration import find
from reproduction.guo_schuurmans import (
    CategoricalNaiveBayes,
    cut_points,
    data,
    discretised,
    protocol,
)

ONE_CLASS = ("crx", "corral")
"""Rows of the column shift in which the paper does not have the share of the larger class."""


@pytest.mark.parametrize("seed", range(2))
def test_the_first_cut_is_that_of_a_tree(seed: int) -> None:
    generator = np.random.default_rng(seed)
    values = generator.normal(size=200)
    labels = values + 0.3 * generator.normal(size=200) > generator.normal()
    tree = DecisionTreeClassifier(criterion="entropy", max_depth=1).fit(values[:, None], labels)
    cuts = cut_points(values, labels)
    # The tree has its numbers in single precision.
    assert np.min(np.abs(np.array(cuts) - tree.tree_.threshold[0])) < 1e-6
    assert cuts == sorted(cuts)


def test_numbers_without_information_are_one_interval() -> None:
    generator = np.random.default_rng(0)
    X = np.column_stack([generator.normal(size=300), np.arange(300) % 3, np.arange(300) % 2 == 0])
    y = np.where(generator.random(300) < 0.5, 1, -1)
    codes = discretised(X, y, ("number", "category", "two=yes"))
    assert [np.unique(column).tolist() for column in codes.T] == [[1.0], [1.0, 2.0, 3.0], [1, 2]]


def test_indicators_of_one_attribute_are_one_code() -> None:
    X = np.eye(3)[[0, 2, 1, 2]]
    codes = discretised(X, np.array([1, 1, -1, -1]), ("a=x", "a=y", "a=z"))
    assert codes.ravel().tolist() == [1.0, 3.0, 2.0, 3.0]


def test_naive_bayes_of_pairs_classifies_as_that_of_points() -> None:
    generator = np.random.default_rng(1)
    X = generator.integers(1, 4, size=(40, 5)).astype(float)
    y = np.where(X[:, 0] + X[:, 1] + generator.normal(size=40) > 4, 1, -1)
    problem = ConfidenceProblem.from_learner(X, y, CategoricalNaiveBayes((3,) * 5))
    scores = problem.kernel_with(X) @ problem.y
    ordinary = CategoricalNB(alpha=1, min_categories=3).fit(X.astype(int) - 1, y)
    assert np.array_equal(np.where(scores > 0, 1, -1), ordinary.predict(X.astype(int) - 1))


@pytest.mark.slow
@pytest.mark.usefixtures("data_dir")
def test_a_constant_classifier_has_the_printed_share() -> None:
    """Shift, which leaves such a classifier, tells which rows the paper used."""
    numbers = find("guo-schuurmans-table-2")["guo-schuurmans-table-2"].numbers.facts
    for name, source in data(False).items():
        shares = []
        for division in protocol(False).divisions(source.y):
            larger = np.sign(np.sum(source.y[division.train]))
            shares.append(np.mean(source.y[division.test] == larger))
        printed = numbers[name, "shift"].value
        assert (abs(np.mean(shares) - printed) < 0.005) == (name not in ONE_CLASS), name


def test_a_diagonal_kernel_has_equal_weights_in_each_class() -> None:
    """(12) with K = I: the smaller class has weights 1/(2 n₊), and any weights of the larger one
    up to that are optimal; the middle of them are equal, so that all scores have the right sign."""
    y = np.array([1.0] * 4 + [-1.0] * 12)
    program = iopt.GuoSchuurmansLP(relative=2.0, offset="nearest")
    machine = iopt.solve(KernelProblem(np.eye(16), y), program, "clarabel").classifier
    assert np.allclose(machine.coef[:4], 1 / 8, atol=1e-6)
    assert np.allclose(machine.coef[4:], -1 / 24, atol=1e-3)
    assert machine.offset == 0.0
