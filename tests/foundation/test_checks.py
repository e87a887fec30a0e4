"""The checks of numbers, switches and names say what was expected and what came."""

from __future__ import annotations

import sys
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest

from indefinite_opt.errors import BadArgument, ParameterError, UnknownName
from indefinite_opt.foundation import checks

INF, NAN = float("inf"), float("nan")

NUMBERS: dict[str, tuple[Callable[[str, Any], None], str]] = {
    "number": (checks.number, "a finite number"),
    "positive": (checks.positive, "a positive number"),
    "whole": (checks.whole, "a positive integer"),
    "seed": (checks.seed, f"an integer from 0 to {2**32 - 1}"),
    "tolerance": (checks.tolerance, "a number between 0 and 1"),
}


def message(check: Callable[..., None], *arguments: Any, **options: Any) -> str:
    """What the check says; the test fails if it says nothing."""
    with pytest.raises(BadArgument) as caught:
        check("it", *arguments, **options)
    assert caught.value.argument == "it"
    return str(caught.value).removeprefix("it: expected ")


@pytest.mark.parametrize("name", NUMBERS)
def test_what_is_no_number_is_refused(name: str) -> None:
    """Truth values above all: Python takes True for 1."""
    check, expected = NUMBERS[name]
    others = [True, False, np.True_, "1", None, [1.0], np.array(1.0), 1j, NAN, Fraction(1, 2)]
    for value in others:
        assert message(check, value) == f"{expected}, got {value!r}"


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_of_numpy_are_numbers(name: str) -> None:
    check, _ = NUMBERS[name]
    fitting = [np.int64(1), np.uint8(1), 1] if name in ("whole", "seed") else [np.float32(0.5), 0.5]
    for value in fitting:
        check("it", value)


def test_a_number_lies_in_its_range() -> None:
    for value in (0, 1, 0.25, np.float64(1.0)):
        checks.number("it", value, 0.0, 1.0)
    for value in (-0.1, 2, INF, 10**400, np.int64(2), np.float16(-1.0)):
        assert message(checks.number, value, 0.0, 1.0) == f"a number from 0 to 1, got {value!r}"


@pytest.mark.parametrize("value", [INF, -INF, np.float64(INF), 10**400, -(10**400)])
def test_a_number_is_finite(value: Any) -> None:
    assert message(checks.number, value) == f"a finite number, got {value!r}"


def test_a_positive_number_is_neither_zero_nor_infinite() -> None:
    for value in (5e-324, 1, sys.float_info.max, np.float32(2.0)):
        checks.positive("it", value)
    for value in (0, 0.0, -1.5, INF, -INF, np.int64(-1), np.uint8(0), np.float32(0.0)):
        assert message(checks.positive, value) == f"a positive number, got {value!r}"


@pytest.mark.parametrize(
    ("option", "allowed", "words"),
    [
        ({"zero": True}, 0.0, "a positive number or 0"),
        ({"infinite": True}, INF, "a positive number or inf"),
        ({"optional": True}, None, "a positive number or None"),
        ({"most": 0.5}, 0.5, "a positive number of at most 0.5"),
        ({"zero": True, "optional": True}, None, "a positive number, 0 or None"),
    ],
    ids=str,
)
def test_what_else_a_positive_number_may_be(option: Any, allowed: Any, words: str) -> None:
    checks.positive("it", allowed, **option)
    for value in (-1.0, -INF, "1", NAN):
        assert message(checks.positive, value, **option) == f"{words}, got {value!r}"


def test_a_positive_number_is_at_most_the_most() -> None:
    assert message(checks.positive, 1.01, most=1.0) == "a positive number of at most 1, got 1.01"


@pytest.mark.parametrize("check", [checks.number, partial(checks.positive, infinite=True)])
def test_an_integer_that_is_a_float_only(check: Callable[..., None]) -> None:
    """Integers beyond 64 bits become arrays of objects in numpy."""
    check("it", sys.maxsize)
    check("it", 1e20)
    assert "above 2⁶³ as a float, got 100000000000000000000" in message(check, 10**20)


def test_an_integer_of_too_many_digits_is_described() -> None:
    for check, expected in (
        (checks.positive, "a positive number"),
        (checks.whole, f"an integer from 1 to {sys.maxsize}"),
    ):
        got = "an integer of more than 4300 digits"
        assert message(check, 10**5000) == f"{expected}, got {got}"


def test_a_whole_number_lies_in_its_range() -> None:
    checks.whole("it", 2, least=2, most=3)
    checks.whole("it", 10**400, most=np.inf)
    for value in (0, -3, 1.0, 2.5, np.int64(0)):
        assert message(checks.whole, value) == f"a positive integer, got {value!r}"
    assert message(checks.whole, -1, least=0) == "an integer of at least 0, got -1"
    assert message(checks.whole, 2.0, 2, 3) == "an integer from 2 to 3, got 2.0"
    assert message(checks.whole, 2**63) == f"an integer from 1 to {2**63 - 1}, got {2**63}"
    reason = message(checks.whole, 4, 2, 3, reason="the smaller class")
    assert reason == "an integer from 2 to 3 (the smaller class), got 4"


def test_none_is_no_whole_number_unless_it_is_allowed() -> None:
    checks.whole("it", None, optional=True)
    assert message(checks.whole, 0, optional=True) == "a positive integer or None, got 0"


def test_a_seed_suits_every_generator() -> None:
    from sklearn.utils import check_random_state

    for value in (0, 2**32 - 1, np.int32(7)):
        checks.seed("it", value)
        check_random_state(value)
    with pytest.raises(ValueError, match="Seed must be"):
        check_random_state(2**32)
    for value in (-1, 2**32, 0.0):
        assert message(checks.seed, value) == f"an integer from 0 to 4294967295, got {value!r}"
    checks.seed("it", None, optional=True)


def test_a_tolerance_lies_between_0_and_1() -> None:
    checks.tolerance("it", 1e-300)
    for value in (0, 0.0, 1, 1.0, -1e-6, INF, "small"):
        assert message(checks.tolerance, value) == f"a number between 0 and 1, got {value!r}"


def test_a_switch_is_a_truth_value() -> None:
    for value in (True, False, np.True_):
        checks.switch("it", value)
    for value in (0, 1, 2, None, "false", NAN):
        assert message(checks.switch, value) == f"True or False, got {value!r}"


@pytest.mark.parametrize("value", ["clap", "Clip", "", None, 3, ["clip"], {}], ids=str)
def test_a_choice_is_one_of_the_names(value: Any) -> None:
    checks.choice("it", "clip", ("clip", "shift"))
    said = message(checks.choice, value, ("shift", "clip"))
    assert said.startswith(f"one of clip, shift, got {value!r}")
    with pytest.raises(UnknownName) as caught:
        checks.choice("it", value, {"clip": 1, "shift": 2})
    assert caught.value.known == ["clip", "shift"]


def test_a_choice_offers_the_nearest_name() -> None:
    assert message(checks.choice, "clap", ["clip", "shift"]).endswith("Did you mean clip?")


@pytest.mark.parametrize(
    ("argument", "limits", "expected"),
    [
        ("tol", (0.0, None), "a number between 0 and 1, got 0.0"),
        ("time_limit", (1e-6, 0.0), "a positive number, inf or None, got 0.0"),
        ("max_iter", (1e-6, None, 2.5), "a positive integer or None, got 2.5"),
    ],
)
def test_limits_name_the_one_that_is_out_of_range(
    argument: str, limits: tuple[Any, ...], expected: str
) -> None:
    checks.limits(1e-6, INF, 1)
    checks.limits(1e-6, None)
    with pytest.raises(ParameterError) as caught:
        checks.limits(*limits)
    assert str(caught.value) == f"{argument}: expected {expected}"
