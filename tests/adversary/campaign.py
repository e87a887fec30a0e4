"""What every campaign does: draw, call, count, and keep each failure with Python that shows it."""

from __future__ import annotations

import itertools
import os
import time
import traceback
import warnings
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import pytest
from claims import Finding

import indefinite_opt as iopt

__all__ = ["Campaign", "Failure", "assert_nothing_false", "long_campaign"]

SHOWN = 20
"""Failures that are printed, no two of one kind; all are counted."""


@dataclass(frozen=True)
class Failure:
    """A finding, and Python that shows it again."""

    drawn: Any
    what: str
    numbers: str
    call: str

    def __str__(self) -> str:
        return f"{self.what}: {self.numbers}\n{self.drawn.snippet()}\n{self.call}"


@dataclass
class Campaign(ABC):
    """Problems or programs drawn one after the other, and everything that was found.

    Warnings are counted; where `warnings_fail`, they are failures.
    """

    warnings_fail: ClassVar[bool] = False
    seed: int
    draws: int = field(default=0, kw_only=True)
    failures: list[Failure] = field(default_factory=list, kw_only=True)
    counts: Counter[str] = field(default_factory=Counter, kw_only=True)

    def run(
        self, seconds: float = np.inf, draws: int | None = None, first: int = 0, step: int = 1
    ) -> None:
        """Draw `first` and every number that is `step` further, until time or number is reached."""
        end = time.monotonic() + seconds
        numbers = itertools.count(first, step)
        for number in numbers if draws is None else itertools.islice(numbers, draws):
            if time.monotonic() >= end:
                break
            drawn = self.draw(number)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                # A call of cvxpy that a time limit has abandoned may still warn.
                warnings.filterwarnings("ignore", message="Solution may be inaccurate")
                self.examine(drawn)
            for warning in caught:
                what, text = warning.category.__name__, str(warning.message).splitlines()[0]
                if self.warnings_fail:
                    self.fail(drawn, what, text, "problem")
                self.counts[f"{what}: {text}"] += 1
            self.draws += 1

    @abstractmethod
    def draw(self, number: int) -> Any:
        """Draw `number` of the seed."""

    @abstractmethod
    def examine(self, drawn: Any) -> None:
        """Everything about one of them."""

    @abstractmethod
    def refused(self, drawn: Any, error: iopt.IndefiniteOptError) -> str | None:
        """Count a refusal by name; what is false in it, if anything."""

    def table(self) -> str:
        """Counts of everything."""
        failures = Counter(f"FAILED: {failure.what}" for failure in self.failures)
        lines = [f"seed {self.seed}, {self.draws} draws, {len(self.failures)} failures"]
        lines += [f"{count:>8}  {what}" for what, count in sorted((self.counts + failures).items())]
        return "\n".join(lines)

    def call(self, drawn: Any, text: str, function: Callable[..., Any], *arguments: Any) -> Any:
        """The answer, or None: a true refusal is counted, anything else is a failure."""
        try:
            return function(*arguments)
        except iopt.IndefiniteOptError as error:
            false = self.refused(drawn, error)
            if false is not None:
                self.fail(drawn, "refusal", false, text)
        except Exception as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{last.filename.rsplit('/', 1)[-1]}:{last.lineno}"
            self.fail(drawn, f"{type(error).__name__} at {where}", str(error), text)
        return None

    def certified(self, drawn: Any, result: iopt.workflow.Result, text: str, by: str = "") -> Any:
        """The certificate of a result, which is counted by its claim, or None."""
        certificate = self.call(drawn, f"{text}\nresult.certificate", lambda: result.certificate)
        if certificate is not None:
            self.counts[by + certificate.claim.name] += 1
            if result.status is iopt.Status.SOLVED and certificate.claim is iopt.Claim.NONE:
                self.fail(drawn, "status", f"SOLVED by {result.solver}, claim NONE", text)
        return certificate

    def examined(self, drawn: Any, findings: Iterable[Finding], text: str, by: str = "") -> None:
        """Failures of all findings."""
        for finding in findings:
            self.fail(drawn, finding.what, finding.numbers + (f" ({by})" if by else ""), text)

    def fail(self, drawn: Any, what: str, numbers: str, text: str) -> None:
        """Keep a failure; `text` is the call that shows it."""
        self.failures.append(Failure(drawn, what, numbers, text))


def assert_nothing_false(campaign: Campaign) -> None:
    """Fail with the first failure of each kind."""
    first: dict[str, Failure] = {}
    for failure in campaign.failures:
        first.setdefault(failure.what, failure)
    assert not first, "\n\n".join(map(str, list(first.values())[:SHOWN]))


def long_campaign(kind: type[Campaign], capsys: pytest.CaptureFixture[str]) -> None:
    """Three minutes with a new seed; ADVERSARY_SECONDS and ADVERSARY_SEED say otherwise."""
    seconds = float(os.environ.get("ADVERSARY_SECONDS", "180"))
    seed = int(os.environ.get("ADVERSARY_SEED", time.time_ns() % 10**9))
    campaign = kind(seed)
    with capsys.disabled():
        print(f"\nADVERSARY_SEED={seed}, {seconds:g} s", flush=True)
        campaign.run(seconds)
        print(campaign.table(), flush=True)
    assert_nothing_false(campaign)
