"""Tables of paths: their numbers are those of single solves and of closed forms."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import indefinite_opt as iopt
from indefinite_opt.workflow import Path
from indefinite_opt.workflow import result as result_module

HULLS = [iopt.ConvexHullDual(mu=mu) for mu in (0.5, 1.0)]


def identity(n: int = 2, labels: Any = (1, -1)) -> iopt.KernelProblem:
    return iopt.KernelProblem(np.eye(n), labels)


def svms(*values: float) -> list[iopt.Formulation]:
    return [iopt.SVMDual(C=C) for C in values]


def column(path: Path, name: str) -> list[Any]:
    return [row[name] for row in path.table]


def test_rows_of_a_closed_form() -> None:
    """With K = I weights are c = min(C, 1), the objective is 2c - c², and no point is wrong."""
    path = iopt.solve_path(identity(), svms(0.25, 0.5, 4.0))
    assert len(path) == 3
    assert path[:2] == [path[0], path[1]]
    assert list(reversed(path)) == [path[2], path[1], path[0]]
    assert path[1] in path
    again = pickle.loads(pickle.dumps(path))
    assert column(again, "objective") == column(path, "objective")
    assert path.varied == ("C",)
    assert column(path, "C") == [0.25, 0.5, 4.0]
    assert column(path, "objective") == pytest.approx([0.4375, 0.75, 1.0], rel=1e-5)
    assert column(path, "support") == [2, 2, 2]
    assert column(path, "training_error") == [0.0, 0.0, 0.0]
    assert column(path, "claim") == ["GLOBAL"] * 3
    assert column(path, "error") == ["", "", ""]
    assert all(0.0 <= within <= 1e-6 for within in column(path, "proved_within"))
    # Of three new points with f = c, -c and 2c the last one is on the wrong side.
    errors = path.test_error([[1.0, 0.0], [0.0, 1.0], [2.0, 0.0]], [1, -1, -1])
    assert errors == pytest.approx([1 / 3] * 3)
    with pytest.raises(iopt.errors.ProblemError, match="2 labels, one for each row of X, got 3"):
        path.test_error(np.eye(2), [1, -1, 1])
    with pytest.raises(iopt.errors.ProblemError, match="a vector of labels"):
        path.test_error(np.eye(2))


def test_a_failure_is_a_row_with_its_error() -> None:
    """The hulls of two points need weights of 1: half of the squared distance is 1."""
    path = iopt.solve_path(identity(), HULLS)
    failed, solved = path.table
    assert list(failed) == list(solved)
    assert failed["mu"] == 0.5
    assert failed["error"].startswith("InfeasibleProblem: mu: expected at least 1.0")
    assert {failed[name] for name in failed if name not in ("mu", "error")} == {None}
    assert solved["error"] == ""
    assert solved["objective"] == pytest.approx(path[1].objective)
    assert np.isnan(path.test_error([[1.0, 0.0]], [1])).tolist() == [True, False]
    assert path.frame["claim"].isna().tolist() == [True, False]
    lines = [" ".join(line.split()) for line in str(path).splitlines()]
    title = "ConvexHullDual over mu on problem (n = 2): 2 formulations, 1 failed"
    assert lines[0].startswith(title)
    assert lines[1:3] == [
        "mu objective SVs training error claim within seconds", "0.5 – – – FAILED – –"
    ]  # fmt: skip
    assert lines[4].startswith("ConvexHullDual(mu=0.5): InfeasibleProblem: mu: expected")
    html = path._repr_html_()
    assert html.count("<tr") == 3
    assert "InfeasibleProblem: mu: expected at least 1.0" in html
    assert repr(path).startswith("Path(ConvexHullDual over mu")


def test_a_proof_is_in_the_table() -> None:
    """The local solution of K = [[0, 2], [2, 0]] is a global one, which prove= finds out."""
    problem = iopt.KernelProblem([[0.0, 2.0], [2.0, 0.0]], [1, -1])
    local = iopt.solve_path(problem, svms(1.0, 2.0))
    assert column(local, "claim") == ["LOCAL", "LOCAL"]
    assert column(local, "gap_kind") == ["KKT residual"] * 2
    assert column(local, "proved_within") == [np.inf, np.inf]
    assert [line.split()[-2] for line in str(local).splitlines()[2:]] == ["–", "–"]
    proved = iopt.solve_path(problem, svms(1.0, 2.0), prove=60)
    assert column(proved, "claim") == ["GLOBAL", "GLOBAL"]
    assert all(within <= 1e-6 for within in column(proved, "proved_within"))


def test_certificates_wait_for_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    original = result_module.certify

    def counting(problem: Any, formulation: Any, *rest: Any, **named: Any) -> Any:
        calls.append(str(formulation))
        return original(problem, formulation, *rest, **named)

    monkeypatch.setattr(result_module, "certify", counting)
    path = iopt.solve_path(identity(), svms(0.25, 0.5))
    assert repr(path)
    assert (len(path), path.varied, path.titles) == (2, ("C",), ["0.25", "0.5"])
    assert path.test_error([[1.0, 0.0]], [1]) == [0.0, 0.0]
    assert calls == []
    assert path.plot().axes
    assert str(path)
    assert sorted(calls) == ["SVMDual(C=0.25)", "SVMDual(C=0.5)"]


def test_what_varies() -> None:
    problem = identity(4, [1, 1, -1, -1])
    titles = [f"SVMDual(C={C}, bias={b})" for C in (1.0, 2.0) for b in (False, True)]
    both = iopt.solve_path(problem, titles)
    assert both.varied == ("C", "bias")
    assert [(row["C"], row["bias"]) for row in both.table][1:3] == [(1.0, True), (2.0, False)]
    mixed = iopt.solve_path(problem, ["SVMDual(C=2)", "LPSVM(C=3)"])
    assert mixed.varied == ()
    assert column(mixed, "formulation") == mixed.titles == ["SVMDual(C=2)", "LPSVM(C=3)"]
    same = iopt.solve_path(problem, svms(2.0, 2.0))
    assert column(same, "formulation") == ["SVMDual(C=2)"] * 2
    weights = np.array([1.0, 1.0, 2.0, 2.0])
    weighted = [iopt.SVMDual(weights=w) for w in (None, weights, weights[::-1])]
    path = iopt.solve_path(problem, weighted)
    assert path.varied == ("weights",)
    first, *others = column(path, "weights")
    assert first is None
    assert len({*others}) == 2
    assert all(isinstance(each, str) for each in others)


def test_pairs_of_classes_have_the_weakest_claim_and_no_objective() -> None:
    """Two pairs are convex by their blocks, and the third one is not."""
    labels = list("aaabbbccc")
    problem = iopt.KernelProblem(np.diag([1.0] * 6 + [-1.0] * 3) + 0.1, labels)
    path = iopt.solve_path(problem, svms(1.0, 2.0))
    assert "objective" not in path.table[0]
    for row, entry in zip(path.table, path, strict=True):
        assert row["claim"] == min(one.certificate.claim for one in entry.values()).name
        kinds = {one.certificate.gap_kind for one in entry.values()}
        assert entry.gap_kind == "KKT residual" or "KKT residual" not in kinds
        assert entry.gap >= 0.0
        assert row["proved_within"] == max(o.certificate.proved_within for o in entry.values())
        assert row["support"] == entry.classifier.support.size
        wrong = np.mean(entry.predict(problem.K) != np.array(labels))
        assert row["training_error"] == pytest.approx(wrong)
    assert path.test_error(problem.K, labels) == column(path, "training_error")
    assert path[0].claim.name in str(path)


def test_errors_of_regressions_and_of_one_class() -> None:
    X = np.linspace(0.0, 3.0, 20)[:, None]
    targets = np.sin(X[:, 0]) + 0.01 * np.arange(20)
    problem = iopt.KernelProblem.from_data(X, targets, "gaussian(gamma=1)", task="regression")
    path = iopt.solve_path(problem, [iopt.EpsilonSVR(C=C) for C in (0.1, 10.0)])
    for row, result in zip(path.table, path, strict=True):
        expected = np.sqrt(np.mean(np.square(result.predict(X) - targets)))
        assert row["training_rmse"] == pytest.approx(expected)
    assert path.test_error(X, targets) == pytest.approx(column(path, "training_rmse"))
    with pytest.raises(iopt.errors.ProblemError, match="y: expected"):
        path.test_error(X, targets[1:])
    alone = iopt.KernelProblem.from_data(X, None, "gaussian(gamma=1)")
    path = iopt.solve_path(alone, [iopt.OneClassSVM(nu=nu) for nu in (0.2, 0.5)])
    for row, result in zip(path.table, path, strict=True):
        # f is 0 up to rounding at many points, whose side only the same sum tells.
        outliers = result.classifier.predict(alone.K) < 0
        assert row["training_outliers"] == pytest.approx(np.mean(outliers))
    outside = [np.mean(result.predict(X + 2.0) < 0) for result in path]
    assert path.test_error(X + 2.0) == pytest.approx(outside)
    assert outside[0] > 0.2


def test_no_line_is_longer_than_a_terminal() -> None:
    K = np.eye(4) * 1.23456789e-5
    problem = iopt.KernelProblem(K, [1, 1, -1, -1], name="a name of a data set with many words")
    formulations = [
        "SpectrumSVM(C=123.456789, transform='flip', new_points='projected')", "LPSVM",
        "ConvexHullDual(mu=0.001)", "GuoSchuurmansQP(beta=0.123)", "KernelLogistic(C=0.5)",
    ]  # fmt: skip
    path = iopt.solve_path(problem, formulations)
    assert all(len(line) <= 80 for line in str(path).splitlines())
    assert "SpectrumSVM(C=123" in str(path)


def test_a_path_of_nothing_is_empty() -> None:
    path = iopt.solve_path(identity(), [])
    assert (len(path), path.table, path.frame.size) == (0, [], 0)
    assert "0 formulations" in str(path)
    assert path._repr_html_()
    with pytest.raises(iopt.errors.ParameterError, match="at least one entry"):
        path.plot()
