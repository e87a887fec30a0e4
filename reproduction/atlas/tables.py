"""The tables of the atlas in Markdown."""

from __future__ import annotations

from typing import Any

import pandas as pd

from reproduction.atlas import questions
from reproduction.atlas.pairs import Pair, pairs
from reproduction.atlas.protocol import DESCENT, LIBSVM, USUAL
from reproduction.atlas.questions import BUDGETS, CLOSE, CONTROL, Estimate, estimated
from reproduction.markup import markdown_table


def tables(table: pd.DataFrame) -> dict[str, str]:
    """All tables by their names."""
    return {
        "pairs": listed(table), "sources": sources(), "misses": misses(table),
        "methods": methods(table), "times": times(table), "accuracies": accuracies(table),
        "open": unproved(table), "ends": ends(table),
    }  # fmt: skip


def _table(heads: list[str], rows: list[list[str]], texts: int = 1) -> str:
    sides = "l" * texts + "r" * (len(heads) - texts)
    return "\n".join(markdown_table(heads, rows, sides))


def listed(table: pd.DataFrame) -> str:
    """The pairs with their sizes, negative shares, similarities and sources."""
    known = list(pairs().values())
    rows = table[table["part"] == "pair"]
    shares: Any = rows.groupby("pair")["negative_share"].mean().to_dict()
    similarities = list(dict.fromkeys(pair.similarity for pair in known))
    origins = list(dict.fromkeys(pair.source for pair in known))

    def row(pair: Pair) -> list[str]:
        share = f"{100 * shares[pair.name]:.1f}" if pair.name in shares else "–"
        places = similarities.index(pair.similarity), origins.index(pair.source)
        return [
            pair.name, pair.dataset, "no" if pair.seen else "yes", str(pair.n),
            str(len(pair.classes)), share, *(str(1 + place) for place in places),
        ]  # fmt: skip

    heads = ["pair", "data set", "new", "n", "classes", "negative (%)", "similarity", "source"]
    return _table(heads, [row(pair) for pair in known], 3)


def sources() -> str:
    """The similarities and the sources, numbered as in the list of pairs."""
    known = list(pairs().values())
    similarities = dict.fromkeys(pair.similarity for pair in known)
    origins = dict.fromkeys(pair.source for pair in known)
    compared = "\n".join(
        f"{k}. {one.meaning} ({one.citation})." for k, one in enumerate(similarities, 1)
    )
    named = "\n".join(
        f"{k}. {source.origin} ({source.citation}); {source.licence}."
        for k, source in enumerate(origins, 1)
    )
    return f"The similarities are:\n\n{compared}\n\nThe sources are:\n\n{named}"


def misses(table: pd.DataFrame) -> str:
    """How often searches miss the best known point, at each C and in all."""
    programs = questions.misses(table)
    levels = sorted(programs["C"].unique())
    rows = []
    for name in (LIBSVM, DESCENT, USUAL):
        found = questions.missed(programs, name)
        closed = found[found["proved_within"] <= CLOSE]
        far = programs.loc[found["value"] > 0.0, f"miss {name}"]
        row = [_capital(name), f"{estimated(found):percent}", f"{estimated(closed):percent}"]
        row += [f"{estimated(found[found['C'] == C]):percent value}" for C in levels]
        row += [f"{100 * far.median():.2g}", f"{100 * far.max():.2g}"] if far.size else ["–"] * 2
        rows.append([*row, f"{estimated(questions.worth(programs, name)):points}"])
    heads = [
        "search", "missed (%)", "of the proved", *(f"C = {C:g}" for C in levels),
        "median miss (%)", "largest (%)", "worth (points)",
    ]  # fmt: skip
    return _table(heads, rows)


def _capital(text: str) -> str:
    named = f"the {text}" if text == USUAL else text
    return named[:1].upper() + named[1:]


def methods(table: pd.DataFrame) -> str:
    """Every method against the control: effect, interval, both p-values, and with all pairs."""
    found = questions.accuracies(table)
    compared, everything = (questions.compared(rows) for rows in (questions.between(found), found))
    rows = [
        [
            f"`{name}`", f"{row['gain']:points}", f"{100 * row['median']:+.1f}",
            _p(row["adjusted"]), _p(row["gain"].tost),
            f"{everything['gain'][str(name)]:points}",
        ]
        for name, row in compared.iterrows()
    ]  # fmt: skip
    heads = [
        "method", f"less `{CONTROL}` (points)", "median", "adjusted p", "equivalence p",
        "with all pairs",
    ]  # fmt: skip
    return _table(heads, rows)


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def times(table: pd.DataFrame) -> str:
    """Median seconds of the methods, and their gains against the control at equal time."""
    spent = table[table["part"] == "times"]
    total = (spent["selection_seconds"] + spent["seconds"]).groupby(spent["method"]).median()
    told = questions.places(questions.accuracies(table))
    gains: dict[float, dict[str, Estimate]] = {}
    for budget in BUDGETS:
        found = questions.at_equal_time(table, budget)
        found = found[[told.get(str(pair)) == "between" for pair in found.index]]
        found = found.assign(run=0).set_index("run", append=True)
        gains[budget] = {
            name: estimated(questions.difference(found, name)) for name in map(str, found)
        }
    rows = [
        [
            f"`{name}`",
            f"{seconds:.2g}",
            *(f"{gains[budget][str(name)]:points}" for budget in BUDGETS),
        ]
        for name, seconds in total.sort_values().items()
    ]
    return _table(["method", "median (s)", *(f"{budget:g} s" for budget in BUDGETS)], rows)


def accuracies(table: pd.DataFrame) -> str:
    """The mean accuracy of every method on every pair, with the place of the pair."""
    found = questions.accuracies(table)
    told = questions.places(found)
    means = 100.0 * found.groupby(level="pair", sort=False).mean()
    lines = [
        [str(pair), told[str(pair)],
         *(f"**{value:.1f}**" if value == row.max() else f"{value:.1f}" for value in row)]
        for pair, row in means.round(1).iterrows()
    ]  # fmt: skip
    return _table(["accuracy (%)", "place", *(f"`{name}`" for name in means)], lines, 2)


def unproved(table: pd.DataFrame) -> str:
    """The tested fits of nonconvex formulations whose gap is open, by pair and method."""
    rows = questions.proof_shares(table)
    open_ = rows[~rows["proved"]]
    if open_.empty:
        return "All are proved."
    gaps: Any = open_.groupby(["pair", "method"])["proved_within"].agg(["size", "max"])
    lines = [
        [*names, f"{size:.0f}", f"{100 * gap:.2g}"]
        for names, size, gap in gaps.sort_values("max", ascending=False).itertuples()
    ]
    return _table(["pair", "method", "open fits", "largest gap (%)"], lines, 2)


def ends(table: pd.DataFrame) -> str:
    """The share of the fits of each method that chose an end of a grid alone, by parameter."""
    found = questions.at_ends(table)
    kinds = sorted({kind for own in found.values() for kind in own})
    rows = [
        [f"`{name}`", *(f"{100 * own[kind]:.0f}" if kind in own else "–" for kind in kinds)]
        for name, own in found.items()
    ]
    return _table(["chose an end (%)", *kinds], rows)
