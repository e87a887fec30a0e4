"""Studies of Haasdonk (2005), against what the paper prints and against closed forms."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from indefinite_opt.studies import Data
from reproduction.comparison import Reproduction, reproduce
from reproduction.declaration import find
from reproduction.haasdonk import draw_panels, leave_one_out


@functools.cache
def quick(number: int) -> Reproduction:
    name = f"haasdonk-figure-{number}"
    return reproduce(name, find(name)[name], quick=True)


@pytest.mark.slow
@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_the_pictures_have_what_the_text_says_of_them(number: int) -> None:
    """Signs of wᵀMw, and that all points without a weight are classified correctly."""
    reproduction = quick(number)
    assert reproduction.failed == 0
    stated = [one for one in reproduction.compared.values() if not one.counted]
    assert len(stated) >= 4
    assert [one for one in stated if one.distance > 0.0] == []
    titles = [ax.get_title() for ax in draw_panels(reproduction.outcomes).axes]
    assert sum(map(bool, titles)) == len(reproduction.outcomes["panels"].settings)


def test_squared_distances_of_hulls_have_their_closed_forms() -> None:
    """(2, 0) joins the tips of Figure 1a; (2, 1) and (2, -1.25) those of Figure 3."""
    rows = quick(1).outcomes["panels"].settings
    assert rows["a"][0]["wMw"] == pytest.approx(4.0)
    assert rows["b"][0]["SVs"] == 2 * 10  # 1/μ of each class
    found = [rows[0]["wMw"] for rows in quick(3).outcomes["panels"].settings.values()]
    assert sorted(found) == pytest.approx([4.0 - 1.25**2, 3.0])


def test_the_C_of_figure_2a_corresponds_to_the_hulls_of_figure_1b() -> None:
    hull = quick(1).outcomes["panels"].settings["b"][0]
    machine = quick(2).outcomes["panels"].settings["a"][0]
    assert machine["mu"] == pytest.approx(0.1)
    # Without free weights the nearest points of the hulls are the same; only the offset differs.
    normals = [np.array(row["coef"]) / np.abs(row["coef"]).sum() for row in (hull, machine)]
    np.testing.assert_allclose(normals[0], normals[1], atol=1e-8)


def test_figure_4_has_the_printed_signatures_and_support_vectors() -> None:
    """Within three standard deviations of forty draws, which are 1 and 3.5."""
    for (_, column), one in quick(4).compared.items():
        if one.counted and one.ours is not None:
            deviation = 1.0 if column in "pq" else 3.5
            assert abs(one.ours.value - one.fact.value) <= 3.0 * deviation


@pytest.mark.slow
@pytest.mark.usefixtures("data_dir")
def test_the_model_of_the_globins_is_that_of_table_1() -> None:
    """All but the signature, which has 13 dimensions less, since 13 proteins are lost."""
    row = leave_one_out(Data("protein-G"), (1e-4,), (1e4,), neighbours=1)
    numbers = find("haasdonk-table-1")["haasdonk-table-1"].numbers.facts
    for column in ("DCM", "wMw", "SVs", "bSVs", "SVM", "CNE", "RNE"):
        fact = numbers["proteins-GH", column]
        assert row[column] == pytest.approx(fact.value, abs=1.5 * 10.0**-fact.decimals), column
    assert row["q"] == numbers["proteins-GH", "q"].value
    assert numbers["proteins-GH", "p"].value - row["p"] == 13
