"""Data sets of similarities or distances between objects."""

from __future__ import annotations

from typing import Any

import numpy as np

from indefinite_opt.errors import DataError, ProblemError
from indefinite_opt.foundation import read_arrays, real_array
from indefinite_opt.problem.datasets.home import Home
from indefinite_opt.problem.datasets.synthetic import Dataset


def _read_npz(home: Home, stem: str, matrix: str, n: int) -> dict[str, Any]:
    path = home.needed_file("proximity", f"{stem}.npz")
    expected = f"arrays {matrix} of shape {(n, n)} and y of shape {(n,)}"
    arrays = read_arrays(path, home.max_bytes)
    shapes = {key: array.shape for key, array in arrays.items()}
    if shapes.get(matrix) != (n, n) or shapes.get("y") != (n,):
        raise DataError(str(path), expected, f"shapes {shapes}")
    try:
        return {**arrays, matrix: real_array(str(path), arrays[matrix], "finite real numbers")}
    except ProblemError as error:
        raise DataError(error.argument, error.expected, error.got) from None


def load_protein(home: Home, positive: tuple[str, ...]) -> Dataset:
    """Evolutionary distances D of 213 proteins: the named class, or HA and HB, against the rest."""
    arrays = _read_npz(home, "protein", "D", 213)
    groups = ("HA", "HB", "M", "G")
    codes = [1 + groups.index(group) for group in positive]
    rest = " and ".join(group for group in groups if group not in positive)
    return Dataset(
        name="protein" if len(positive) == 2 else f"protein-{positive[0]}",
        D=arrays["D"],
        y=np.where(np.isin(arrays["y"], codes), 1, -1),
        description="evolutionary distances between 213 proteins",
        classes=(rest, " and ".join(positive)),
    )


def load_catcortex(home: Home, positive: str) -> Dataset:
    """Distances D = 4 - (S + S^T) / 2 of 53 areas of the cat cortex, one region against the rest.

    S holds the strengths of the connections, 0 to 3, and the diagonal of D is 0. Haasdonk (2005),
    Section 7.5, uses an earlier version with 65 areas.
    """
    arrays = _read_npz(home, "catcortex53", "D", 53)
    code = 1 + ("Visual", "Auditory", "Somato-Motor", "Frontolimbic").index(positive)
    return Dataset(
        name=f"catcortex53-{positive[0]}",
        D=arrays["D"],
        y=np.where(arrays["y"] == code, 1, -1),
        description=f"53 areas of the cat cortex, {positive} (+1) against the rest",
        classes=("rest", positive),
    )


def load_coilyork(home: Home) -> Dataset:
    """Distances D between 144 images of two objects: the training half, symmetrised.

    The D of the source is not symmetric and is replaced by (D + D^T) / 2. Its test half lacks the
    distances between test objects and is not loaded.
    """
    arrays = _read_npz(home, "coilyork_half", "D", 144)
    return Dataset(
        name="coilyork",
        D=0.5 * (arrays["D"] + arrays["D"].T),
        y=np.where(arrays["y"] == 1, 1, -1),
        description="144 images of two objects (training half), distances made symmetric",
    )


def load_auralsonar(home: Home) -> Dataset:
    """Similarities K of 100 sonar signals as people judged them: class 1 (+1), class 2 (-1)."""
    arrays = _read_npz(home, "auralsonar", "S", 100)
    return Dataset(
        name="auralsonar",
        K=arrays["S"],
        y=np.where(arrays["y"] == 1, 1, -1),
        description="human similarity ratings of 100 sonar signals (Chen et al., JMLR 2009)",
        classes=("class 2", "class 1"),
    )
