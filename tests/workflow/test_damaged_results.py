"""Files of results with an entry that no result has: it is refused by name, and nothing wrong is
believed of what is read."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import indefinite_opt as iopt
from helpers.problems import random_problem, suited
from indefinite_opt.formulations import known

RNG = np.random.default_rng(5)
X = pd.DataFrame(RNG.normal(size=(14, 2)), columns=["depth", "width"]).assign(
    kind=np.resize(["new", "old"], 14)
)
Y = np.where(X["depth"] + X["width"] ** 2 > 0.6, "inside", "outside")
FORMULATIONS = (
    "SVMDual", "LPSVM", "GuoSchuurmansLP", "KernelLogistic", "LussDual", "NuSVR", "SVDD"
)  # fmt: skip
"""Of each kind of program and each task one."""


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A result on a table with categories, whose file has every fact."""
    folder = tmp_path_factory.mktemp("results")
    X.assign(label=Y).to_csv(folder / "table.csv", index=False)
    problem = iopt.KernelProblem.read(folder / "table.csv", kernel="sigmoid(a=0.5, r=-1)")
    return iopt.solve(problem, "SVMDual").save(folder / "model.npz")


@functools.cache
def read(path: Path) -> dict[str, Any]:
    """The entries of a file that is not written to any more."""
    with np.load(path) as arrays:
        return dict(arrays)


def changed(path: Path, entries: dict[str, Any]) -> Path:
    """A copy of a file with other entries, without those that are None."""
    arrays = {**read(path), **entries}
    target = path.with_name("damaged.npz")
    np.savez(target, **{name: it for name, it in arrays.items() if it is not None})
    return target


def facts_of(path: Path) -> dict[str, Any]:
    facts: dict[str, Any] = json.loads(str(read(path)["facts"]))
    return facts


def with_facts(path: Path, facts: Any) -> Path:
    return changed(path, {"facts": np.array(json.dumps(facts))})


DAMAGE: dict[str, Callable[[Any], Any]] = {
    "nan": lambda a: np.full_like(a, np.nan),
    "one inf": lambda a: np.where(np.arange(a.size).reshape(a.shape) == 0, np.inf, a),
    "shorter": lambda a: a.ravel()[:-1],
    "longer": lambda a: np.append(a.ravel(), [0.0, 0.0]),
    "another shape": lambda a: a[..., None],
    "complex": lambda a: a + 1j,
    "text": lambda a: a.astype(str),
    "dates": lambda a: np.zeros(a.shape, "M8[D]"),
    "missing": lambda a: None,
}


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_damaged_arrays_are_refused_by_name(formulation: str, tmp_path: Path) -> None:
    problem = suited(random_problem("sigmoid", n=12, seed=3), known()[formulation])
    path = iopt.solve(problem, formulation).save(tmp_path / "model.npz")
    arrays = {name: array for name, array in read(path).items() if " " in name}
    assert arrays
    alone = [name for name in arrays if name.startswith("multiplier")]
    for name, array in arrays.items():
        for how, damage in DAMAGE.items():
            if how == "missing" and alone == [name]:  # without any they are recovered
                continue
            damaged = changed(path, {name: damage(array)})
            kind, _, variable = name.partition(" ")
            with pytest.raises(iopt.errors.DataError) as caught:
                iopt.load(damaged)
            if how == "missing":
                assert caught.value.argument == f"{kind} in {damaged}"
                assert f"{variable} of shape" in caught.value.expected
            else:
                assert caught.value.argument == f"{kind}[{variable!r}] in {damaged}"
    for extra in ("value more", "multiplier more", "more"):
        with pytest.raises(iopt.errors.DataError, match="more"):
            iopt.load(changed(path, {extra: np.zeros(3)}))


NONSENSE: dict[str, tuple[Any, ...]] = {
    "format": ("indefinite_opt result 2", None),
    "objective": (np.nan, np.inf, None, "1", [1.0], True),
    "seconds": (-1.0, np.nan, np.inf, "x"),
    "residual": (-1.0, np.nan, None),
    "iterations": (-1, 1.5, np.nan, np.inf, "3", True),
    "offset": (np.nan, np.inf, "0"),
    "status": ("DONE", "solved", 1, None),
    "tol": (1e9, 1.0, 0.0, -1e-6, np.nan, None, "1e-6"),
    "atol": (-1.0, np.nan, np.inf, None),
    "time_limit": (0.0, -1.0, np.nan, None),
    "solver": (1, None, ["smo"]),
    "message": (1, None),
    "doubt": (1, None),
    "name": (1, None),
    "formulation": ("SVMDual(C=-1)", "SVMDual(C=nan)", "Unknown", "", None, 1),
    "scaling": ("other", 1),
    "cache_mb": (-1.0, np.nan, 1e-300, "x"),
    "objects": (["a"], "ab", None, 1),
    "meanings": ({"-1": "no"}, {"-1": 1, "1": 2}, [], None),
    "table": (1, {}, "x"),
    "task": ("clustering", 1, None),
    "asymmetric": (1, None, "x"),
    "kernel": (["unknown", {}], ["sigmoid", {"b": 1.0}], "sigmoid", 1),
}


INNER = ("kernel", "meanings", "formulation")
"""Facts that have names inside, which errors name."""


@pytest.mark.parametrize("name", NONSENSE)
def test_facts_out_of_range_are_refused_by_name(name: str, table: Path) -> None:
    facts = facts_of(table)
    assert set(NONSENSE) == set(facts)
    for value in NONSENSE[name]:
        damaged = with_facts(table, {**facts, name: value})
        with pytest.raises(iopt.errors.DataError, match=f" in {damaged}: expected .*, got ") as it:
            iopt.load(damaged)
        if name not in INNER:
            assert it.value.argument == f"{name} in {damaged}"
    del facts[name]
    if name in ("atol", "asymmetric"):  # older files have none
        again = iopt.load(with_facts(table, facts))
        assert (again.certificate.atol, again.problem.asymmetric) == (0.0, False)  # type: ignore[union-attr]
        return
    with pytest.raises(iopt.errors.DataError, match=f"without the entry '{name}'"):
        iopt.load(with_facts(table, facts))


VALUES = (
    np.nan, np.inf, -1, 0, 1e300, 1e-300, 10**400, True, None, "x", [1.0], {},
)  # fmt: skip


def places(facts: Any, outer: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The keys to every fact, nested ones, too."""
    inner = facts.items() if isinstance(facts, dict) else enumerate(facts)
    for key, value in inner:
        yield (*outer, key)
        if isinstance(value, dict | list):
            yield from places(value, (*outer, key))


@pytest.mark.slow
def test_what_is_read_in_spite_of_damage_predicts_and_is_certified(table: Path) -> None:
    facts, accepted = facts_of(table), 0
    for place in places(facts):
        for value in VALUES:
            damaged = json.loads(json.dumps(facts))
            inner = damaged
            for key in place[:-1]:
                inner = inner[key]
            inner[place[-1]] = value
            try:
                result = iopt.load(with_facts(table, damaged))
                result.classifier.predict(result.problem.kernel_with(X))
                assert 0.0 < result.certificate.tol < 1.0
                assert np.isfinite(result.objective)
                repr(result)
            except iopt.IndefiniteOptError:
                continue
            accepted += 1
    assert accepted > 20


def test_files_of_several_classes_name_the_pair(tmp_path: Path) -> None:
    problem = iopt.KernelProblem.from_data(X[["depth", "width"]], np.resize(list("abc"), 14))
    path = iopt.solve(problem, "SVMDual").save(tmp_path / "model.npz")
    facts = facts_of(path)

    def refusal(facts: Any, **arrays: Any) -> str:
        damaged = changed(path, {"facts": np.array(json.dumps(facts)), **arrays})
        with pytest.raises(iopt.errors.DataError) as caught:
            iopt.load(damaged)
        return str(caught.value)

    for pairs in (facts["pairs"][:2], [*facts["pairs"], facts["pairs"][0]], {}, 3, None):
        assert "pairs in " in refusal({**facts, "pairs": pairs})
    for pairs in ([1, 2, 3], [None] * 3, [{}] * 3):
        assert "a result that Result.save" in refusal({**facts, "pairs": pairs})
    worse = [*facts["pairs"][:2], {**facts["pairs"][2], "tol": 1.0}]
    assert "tol of b against c in " in refusal({**facts, "pairs": worse})
    damaged = {"1 value alpha": np.full(10, np.nan)}
    assert "value['alpha'] of a against c in " in refusal(facts, **damaged)
    for name in ("3 value alpha", "-1 value alpha", "value alpha", "x"):
        assert "entries in " in refusal(facts, **{name: np.zeros(10)})
    assert "pairs in " in refusal({**facts, "formulation": "OneClassSVM"})
    two = np.where(problem.labels == "a", "a", "b")
    assert "pairs in " in refusal(facts, y=two)


def test_multipliers_with_wrong_signs_prove_nothing(tmp_path: Path) -> None:
    """At zero weights the multipliers -1 of α ≥ 0 cancel the gradient, but have the wrong sign."""
    problem = random_problem("sigmoid", n=12, seed=3)
    path = iopt.solve(problem, "SVMDual").save(tmp_path / "model.npz")
    entries = {
        "value alpha": np.zeros(12), "multiplier lower": -np.ones(12),
        "multiplier upper": np.zeros(12), "multiplier balance": np.array(0.0),
    }  # fmt: skip
    found = iopt.load(changed(path, entries)).certificate
    assert found.claim is iopt.Claim.FEASIBLE
    assert found.stationarity == iopt.verify(problem, "SVMDual", np.zeros(12)).stationarity
