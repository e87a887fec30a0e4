"""What is known of a ray along which a model falls without end."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from indefinite_opt.foundation import Array, read_json
from indefinite_opt.modeling.rays.ray_checker import FORMAT, FailedRay, check
from indefinite_opt.quadratic import write_document


@dataclass(frozen=True, eq=False)
class UnboundedRay:
    """A proof that a model has no optimum: along s + td its objective is at² + bt + O(1).

    Attributes
    ----------
    quadratic : Fraction
        a, of the objective that is minimised; that of a maximum has the opposite sign.
    linear : Fraction or None
        b; None if it is not known, as of a Euclidean norm, and a < 0 is the proof.
    proved : bool
        Whether the checker finds a and b as they are here, each time that it is asked.
    direction, start : dict of str to array
        d and s by the names of the variables, rounded to doubles.
    ray : array
        d as one vector, of one variable after the other.

    Examples
    --------
    The loss grows like |t|, and βᵀKβ falls like -t²:

    >>> import indefinite_opt as iopt, indefinite_opt.algebra as cp
    >>> x = cp.Variable(2, name="x")
    >>> model = cp.Model(minimize=x[0] * x[1] + cp.sum(cp.logistic(x)))
    >>> ray = iopt.theory.unbounded_ray(model)
    >>> ray.direction["x"], ray.check()
    (array([-1.,  1.]), (Fraction(-1, 1), Fraction(1, 1)))
    """

    quadratic: Fraction
    linear: Fraction | None
    document: dict[str, Any] = field(repr=False)
    shapes: dict[str, tuple[int, ...]] = field(repr=False)

    @property
    def proved(self) -> bool:
        try:
            return self.check() == (self.quadratic, self.linear)
        except FailedRay:
            return False

    @property
    def direction(self) -> dict[str, Array]:
        return self._values("direction")

    @property
    def start(self) -> dict[str, Array]:
        return self._values("start")

    @property
    def ray(self) -> Array:
        return np.array([float(Fraction(*pair)) for pair in self.document["direction"]])

    def _values(self, name: str) -> dict[str, Array]:
        entries = iter(self.document[name])
        return {
            variable: np.reshape(
                [float(Fraction(*next(entries))) for _ in range(math.prod(shape))], shape, order="F"
            )
            for variable, shape in self.shapes.items()
        }

    def check(self) -> tuple[Fraction, Fraction | None]:
        """a and b, computed anew in fractions by the checker; `FailedRay` if they prove nothing."""
        return check(self.document)

    def save(self, path: str | Path) -> Path:
        """Write the proof to a JSON file that `ray_checker` reads without this package."""
        return write_document(self.document, path)

    def __str__(self) -> str:
        if not self.proved:
            return "NOT PROVED: the checker does not find that the objective falls along the ray."
        power = "t²" if self.quadratic else "t"
        return (
            "PROVED: the model is unbounded, as its objective goes to infinity in proportion to "
            f"{power} along the ray."
        )


def is_ray(path: Path) -> bool:
    """Whether a file is one that `UnboundedRay.save` has written."""
    document = read_json(path, "path")
    return isinstance(document, dict) and document.get("format") == FORMAT
