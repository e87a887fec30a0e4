"""Words of two languages with their edit distances: a small matrix to try things on."""

from __future__ import annotations

import numpy as np

from indefinite_opt.foundation import Array
from indefinite_opt.problem.datasets.synthetic import Dataset

_ENGLISH = """
    answer, blanket, breakfast, brother, building, butterfly, candle, carpenter, chicken, daughter,
    dinner, farmer, feather, finger, forest, garden, hammer, harvest, kitchen, knowledge, ladder,
    laughter, letter, market, meadow, morning, neighbour, number, orchard, pocket, quarter, river,
    shepherd, shoulder, silver, spider, thunder, weather, window, winter
"""

_ITALIAN = """
    albero, arancia, bambino, bicicletta, bottiglia, camicia, cavallo, chiave, coltello, domenica,
    farina, farfalla, finestra, fiore, foresta, formaggio, fratello, giardino, ginocchio, inverno,
    lampada, lavoro, martello, mattina, montagna, naso, nuvola, occhio, orologio, pecora, pioggia,
    ponte, quaderno, sabbia, scuola, sedia, sorella, spiaggia, tavolo, vicino
"""


def load_words() -> Dataset:
    """Edit distances of 40 English (+1) and 40 Italian words (-1)."""
    words = [word.strip() for text in (_ENGLISH, _ITALIAN) for word in text.split(",")]
    D = np.zeros((len(words), len(words)))
    for i, word in enumerate(words):
        for j in range(i):
            D[i, j] = D[j, i] = edit_distance(word, words[j])
    y = np.repeat([1, -1], len(words) // 2)
    return Dataset(
        name="words", y=y, D=D, classes=("italian", "english"),
        description="edit distances of 40 English and 40 Italian words", names=tuple(words),
    )  # fmt: skip


def edit_distance(first: str, second: str) -> float:
    """The least number of letters to insert, delete or replace (Levenshtein 1966).

    >>> edit_distance("winter", "water"), edit_distance("sun", "")
    (2.0, 3.0)
    """
    row: Array = np.arange(len(second) + 1.0)
    for i, letter in enumerate(first):
        above, row = row, row.copy()
        row[0] = i + 1
        for j, other in enumerate(second):
            row[j + 1] = min(above[j + 1] + 1, row[j] + 1, above[j] + (letter != other))
    return float(row[-1])
