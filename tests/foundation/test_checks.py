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


def message(check: Callable[..., None], *arguments: Any, **options: Any) -> str:
    """What the check says; the test fails if it says nothing."""
    with pytest.raises(BadArgument) as caught:
        check("it", *arguments, **options)
    assert caught.value.argument == "it"
    return str(caught.value).removeprefix("it: expected ")


OTHERS = [True, False, np.True_, "1", [1.0], np.array(1.0), 1j, NAN, Fraction(1, 2)]
"""What is no number: truth values above all, as Python takes True for 1."""

RANGES: list[tuple[Callable[..., None], dict[str, Any], list[Any], list[Any], str]] = [
    (checks.number, {}, [0.5, np.float32(0.5), sys.maxsize, 1e20],
     [*OTHERS, None, INF, -INF, np.float64(INF), 10**400, -(10**400)], "a finite number"),
    (checks.number, {"least": 0.0, "most": 1.0}, [0, 1, 0.25, np.float64(1.0)],
     [-0.1, 2, INF, 10**400, np.int64(2), np.float16(-1.0)], "a number from 0 to 1"),
    (checks.positive, {}, [5e-324, 1, sys.float_info.max, np.float32(2.0)],
     [*OTHERS, None, 0, 0.0, -1.5, INF, -INF, np.int64(-1), np.uint8(0), np.float32(0.0)],
     "a positive number"),
    (checks.positive, {"zero": True}, [0.0], [*OTHERS, None, -1.0, INF], "a positive number or 0"),
    (checks.positive, {"infinite": True}, [INF, sys.maxsize, 1e20], [*OTHERS, 0.0, -INF],
     "a positive number or inf"),
    (checks.positive, {"optional": True}, [None], [*OTHERS, -1.0], "a positive number or None"),
    (checks.positive, {"most": 0.5}, [0.5], [*OTHERS, 0.51], "a positive number of at most 0.5"),
    (checks.positive, {"zero": True, "optional": True}, [None, 0], [-1.0],
     "a positive number, 0 or None"),
    (checks.weight_bound, {}, [1e-100, 1, np.float64(1e50)],
     [*OTHERS, None, 0.0, -1.0, 9e-101, 1e-200, 1.1e50, INF], "a number from 1e-100 to 1e+50"),
    (checks.weight_bound, {"infinite": True}, [INF, 1.0], [*OTHERS, 1e-200, 1e51, -INF],
     "a number from 1e-100 to 1e+50 or inf"),
    (checks.whole, {}, [1, np.int64(1), np.uint8(1)], [*OTHERS, None, 0, -3, 1.0, np.int64(0)],
     "a positive integer"),
    (checks.whole, {"least": 2, "most": 3}, [2, 3], [2.0, 1, 4], "an integer from 2 to 3"),
    (checks.whole, {"least": 0}, [0], [-1], "an integer of at least 0"),
    (checks.whole, {"most": np.inf}, [10**400], [0], "a positive integer"),
    (checks.whole, {}, [], [2**63], f"an integer from 1 to {2**63 - 1}"),
    (checks.whole, {"optional": True}, [None], [0], "a positive integer or None"),
    (checks.whole, {"least": 2, "most": 3, "reason": "the smaller class"}, [3], [4],
     "an integer from 2 to 3 (the smaller class)"),
    (checks.seed, {}, [0, 2**32 - 1, np.int32(7)], [*OTHERS, None, -1, 2**32, 0.0],
     f"an integer from 0 to {2**32 - 1}"),
    (checks.tolerance, {}, [1e-300, np.float32(0.5)], [*OTHERS, None, 0, 1, 1.0, -1e-6, INF],
     "a number between 0 and 1"),
    (checks.switch, {}, [True, False, np.True_], [0, 1, 2, None, "false", NAN], "True or False"),
]  # fmt: skip
"""A check, its options, what it takes, what it refuses, and what it then says it expects."""


@pytest.mark.parametrize(("check", "options", "taken", "refused", "words"), RANGES)
def test_each_check_has_its_range(
    check: Callable[..., None], options: Any, taken: list[Any], refused: list[Any], words: str
) -> None:
    for value in taken:
        check("it", value, **options)
    for value in refused:
        assert message(check, value, **options) == f"{words}, got {value!r}"


def test_a_seed_suits_every_generator() -> None:
    from sklearn.utils import check_random_state

    check_random_state(2**32 - 1)
    with pytest.raises(ValueError, match="Seed must be"):
        check_random_state(2**32)
    checks.seed("it", None, optional=True)


def test_a_large_integer_is_given_as_a_float_or_described() -> None:
    """Integers beyond 64 bits become arrays of objects in numpy."""
    for check in (checks.number, partial(checks.positive, infinite=True)):
        check("it", sys.maxsize)
        check("it", 1e20)
        assert "above 2⁶³ as a float, got 100000000000000000000" in message(check, 10**20)
    got = "an integer of more than 4300 digits"
    assert message(checks.positive, 10**5000) == f"a positive number, got {got}"


def test_a_choice_is_one_of_the_names_and_the_nearest_one_is_offered() -> None:
    checks.choice("it", "clip", ("clip", "shift"))
    for value in ("clap", "Clip", "", None, 3, ["clip"], {}):
        said = message(checks.choice, value, ("shift", "clip"))
        assert said.startswith(f"one of clip, shift, got {value!r}")
        with pytest.raises(UnknownName) as caught:
            checks.choice("it", value, {"clip": 1, "shift": 2})
        assert caught.value.known == ["clip", "shift"]
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
