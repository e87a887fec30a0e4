"""The matrix of a similarity: blocks of its rows are shared among processes and kept."""

from __future__ import annotations

import math
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reproduction.atlas.objects import Matrix
from reproduction.atlas.similarities import DISTANCES, SCORES, Compare

BLOCKS = 64
"""The most blocks of a matrix. They depend on n alone, so that every number is the same however
many processes share them."""


def computed(similarity: str, objects: Any, folder: Path, jobs: int = 1) -> Matrix:
    """The symmetric matrix of all objects, from blocks that are kept in a folder until the end.

    A block has some rows, and the columns from its diagonal on. A computation that was ended goes
    on with the blocks that are not there. Published matrices are returned as they are.
    """
    from joblib import Parallel, delayed
    from rich.console import Console

    if isinstance(objects, Matrix):
        return objects
    letter, functions = ("D", DISTANCES) if similarity in DISTANCES else ("K", SCORES)
    n = len(objects)
    rows = math.ceil(n / BLOCKS)
    starts = range(0, n, rows)
    folder.mkdir(parents=True, exist_ok=True)
    tasks = [
        delayed(_block)(
            functions[similarity], objects[start : start + rows], objects[start:],
            folder / f"{start}.npy",
        )
        for start in starts
    ]  # fmt: skip
    values = np.zeros((n, n))
    with Console(stderr=True).status("") as shown:
        blocks = Parallel(n_jobs=jobs, return_as="generator")(tasks)
        for start, block in zip(starts, blocks, strict=True):
            values[start : start + rows, start:] = block
            shown.update(f"{min(start + rows, n)} of {n} rows of {folder.stem}")
    upper = np.triu(values)
    shutil.rmtree(folder)
    return Matrix(letter, upper + np.triu(values, 1).T)


def _block(compare: Compare, some: Any, others: Any, path: Path) -> NDArray[Any]:
    """Rows of the matrix, which are read if they are there; products use one thread."""
    from threadpoolctl import threadpool_limits

    if path.is_file():
        kept: NDArray[Any] = np.load(path, allow_pickle=False)
        return kept
    with threadpool_limits(1):
        block = compare(some, others)
    part = path.with_suffix(".part")
    with part.open("wb") as file:
        np.save(file, block)
    os.replace(part, path)
    return block
