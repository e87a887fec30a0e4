"""The page of the atlas: every sentence with a number is made of its table."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from reproduction.atlas import questions
from reproduction.atlas.figures import FIGURES, drawn
from reproduction.atlas.pairs import Pair, pairs
from reproduction.atlas.protocol import (
    BOUNDS,
    DESCENT,
    LIBSVM,
    NONCONVEX,
    USUAL,
    Protocol,
)
from reproduction.atlas.questions import CLOSE, Estimate
from reproduction.markup import markdown_table, svg
from reproduction.pages import duration

TITLE = "The atlas: formulations for indefinite kernels on real similarities"

NOT_RUN = (
    "The atlas has not been run yet: this page has the method and the list, which were fixed "
    "before, and no result."
)

FIRST = 4
"""Methods that the summary names for each group of pairs."""

SAME = {"SeparabilitySVM": "square"}
"""Methods that have the classifier of another one, whose row and column stand for both."""

PROOF = f"{100 * CLOSE:g} %"
"""The relative gap up to which a program is proved, and the least miss that counts."""

LARGE = 300
"""Training points from which on proofs are counted apart."""


def write(table: pd.DataFrame | None, protocol: Protocol, page: Path, note: str = "") -> list[Path]:
    """Write the page with figures and a summary beside it; return the paths.

    The note says how the table was made. Without a table the page has the method and the list
    only, and there is nothing beside it.
    """
    written = []
    page.parent.mkdir(parents=True, exist_ok=True)
    if table is not None:
        for name in drawn(table):
            path = page.with_name(f"{name}.svg")
            path.write_bytes(svg(FIGURES[name].drawing(table, protocol), name, small=True))
            written.append(path)
    lead = [NOT_RUN] if table is None else extent(table)
    lead += [note] * bool(note)
    parts = sections(table, protocol)
    body = [text for heading, texts in parts.items() for text in (f"## {heading}", *texts)]
    page.write_text(joined([f"# {TITLE}", *lead, *body]), "utf-8")
    written.append(page)
    if table is not None:
        summary = page.with_name("atlas-summary.md")
        summary.write_text(joined(summarised(table, protocol)), "utf-8")
        written.append(summary)
    return written


def joined(paragraphs: list[str]) -> str:
    """The paragraphs with an empty line between them."""
    return "\n\n".join(paragraphs) + "\n"


def sections(table: pd.DataFrame | None, protocol: Protocol) -> dict[str, list[str]]:
    """The paragraphs of the page by their headings."""
    parts = {"Method": method(protocol), "Pairs of data and similarity": listed(table)}
    if table is not None:
        pictures = {name: _figure(name) for name in drawn(table)}
        parts |= {
            "How often solvers miss the optimum": [*misses(table), pictures["atlas-misses"]],
            "Whether accuracy follows the objective": follows(table),
            "Which formulation classifies best": [
                *winners(table, protocol),
                *(text for name, text in pictures.items() if name == "atlas-ranks"),
                *accuracies(table, protocol),
            ],
            "What a proof costs": [*costs(table), pictures["atlas-proofs"]],
            "What was not proved": unproved(table),
            "What limits these numbers": limits(table),
        }
    return {**parts, "Run it again": again()}


def _figure(name: str) -> str:
    return f"![{FIGURES[name].shows}]({name}.svg)\n\n*{FIGURES[name].caption}*"


def method(protocol: Protocol) -> list[str]:
    """What is run."""
    names = [name for name in NONCONVEX if name in protocol.methods]
    levels = ", ".join(map(str, BOUNDS))
    return [
        f"All methods run on the same {protocol.folds} stratified folds. Parameters and kernel are "
        f"those with the best accuracy on {protocol.inner} inner folds of the training points. "
        "Several classes are trained one against one. Distances are divided by their median, and "
        "have the kernels -d²/2 and exp(-γd²) with γ = 0.1, 1, 10. Similarities are divided by the "
        "mean of |K_ii|. "
        f"The grid has C = {levels}, or bounds of the weights of 1.2, 2 and 5 times the least "
        "feasible one.",
        "`clip`, `shift` and `square` are `SpectrumSVM`. Flip is left out: its classifier is that "
        "of `ESVM`. `SeparabilitySVM` has the classifier of `square`; it is ranked, but has no row "
        "of its own below. "
        f"{' and '.join(f'`{name}`' for name in names)} {'are' if len(names) > 1 else 'is'} not "
        f"convex. Each tested fit has {protocol.seconds:g} s for a proof, and is proved if its "
        f"relative gap is at most {PROOF}. All other programs are convex.",
        "A second experiment compares the points at which methods end on `SVMDual`, with the two "
        f"largest classes and the first kernel of each pair, the training points of "
        f"{protocol.ends_folds} of the folds, and C = {levels}: LIBSVM, one descent from zero, the "
        f"usual search, the search with a proof, and descents from {protocol.starts} random "
        "starts.",
        "Intervals hold 95 % of 2000 bootstrap samples, which draw pairs with replacement.",
    ]


def listed(table: pd.DataFrame | None) -> list[str]:
    """The pairs with their sources; with a table those that were run, and which are missing."""
    known = pairs()
    shares: dict[str, float] = {}
    if table is not None:
        rows = table[table["part"] == "pair"]
        shares = dict(zip(rows["pair"], rows["negative"], strict=True))
    chosen = {name: pair for name, pair in known.items() if table is None or name in shares}
    similarities = list(dict.fromkeys(pair.similarity for pair in chosen.values()))
    sources = list(dict.fromkeys(pair.source for pair in chosen.values()))

    def row(pair: Pair) -> list[str]:
        n, k = str(pair.n), str(len(pair.classes))
        negative = [] if table is None else [f"{100 * shares[pair.name]:.1f}"]
        places = similarities.index(pair.similarity), sources.index(pair.source)
        return [pair.name, n, k, *negative, *(str(1 + place) for place in places)]

    share = [] if table is None else ["negative (%)"]
    heads = ["pair", "n", "classes", *share, "similarity", "source"]
    shown = "\n".join(markdown_table(heads, map(row, chosen.values()), "l" + "r" * len(heads[1:])))
    compared = "\n".join(
        f"{k}. {one.meaning} ({one.citation})." for k, one in enumerate(similarities, 1)
    )
    origins = "\n".join(
        f"{k}. {source.origin} ({source.citation}); {source.licence}."
        for k, source in enumerate(sources, 1)
    )
    absent = [f"`{name}`" for name in known if name not in chosen]
    lost = f"{len(absent)} of the {len(known)} pairs of the list were not run: {', '.join(absent)}."
    found = [shown, "The similarities are:", compared, "The sources are:", origins]
    return [*found, *([lost] if absent else [])]


def extent(table: pd.DataFrame) -> list[str]:
    """How much was run."""
    described, rows = table[table["part"] == "pair"], table[table["part"] == "study"]
    spent = rows["cell_seconds"].sum() + table.loc[table["part"] == "end", "seconds"].sum()
    failed = int((rows["error"] != "").sum())
    return [
        f"{len(described)} pairs of data and similarity with {int(described['n'].min())} to "
        f"{int(described['n'].max())} objects, {rows['method'].nunique()} methods, "
        f"{rows['run'].nunique()} seed{'s' * (rows['run'].nunique() != 1)}: {len(rows)} tested "
        f"fits, of which {failed} failed. All cells together took {duration(float(spent))}."
    ]


def percent(found: Estimate) -> str:
    """A share in percent with its interval."""
    value, low, high = (f"{100 * number:.1f}" for number in found[:3])
    return f"{value} ({low} to {high})"


def points(found: Estimate) -> str:
    """A difference in percentage points with its interval."""
    value, low, high = (f"{100 * number:+.1f}" for number in found[:3])
    return f"{value} ({low} to {high})"


def misses(table: pd.DataFrame) -> list[str]:
    """How often, and by how much, LIBSVM and descents miss the best known point."""
    found = questions.misses(table)
    indefinite = found[found["q"] > 0]
    closed = indefinite["proved_within"] <= CLOSE
    told = (
        f"{len(indefinite)} of {len(found)} programs are not convex, and {closed.sum()} of these "
        f"are proved. A method misses a program if its objective is worse than the best known one "
        f"by more than {PROOF} of that one. Without a proof the true miss may be larger. The share "
        "of all programs is a mean over the grid of C. The last column is of the missed programs: "
        "the test accuracy of the point of the search with a proof minus that of the method."
    )
    levels = sorted(indefinite["C"].unique())
    rows = []
    for name in (LIBSVM, DESCENT, USUAL):
        far = indefinite[f"miss {name}"] > CLOSE
        by_level = (f"{100 * far[indefinite['C'] == C].mean():.1f}" for C in levels)
        row = [_capital(name), percent(questions.missed_share(indefinite, name)), *by_level]
        row.append(f"{100 * far[closed].mean():.1f}")
        if far.any():
            miss = 100 * indefinite.loc[far, f"miss {name}"]
            worth = questions.bootstrapped(indefinite[far], partial(_mean_gain, name=name))
            row += [f"{miss.median():.2g}", f"{miss.max():.2g}", points(worth)]
        else:
            row += ["–"] * 3
        rows.append(row)
    heads = [
        "point", "missed (%)", *(f"C = {C:g}" for C in levels), "among the proved",
        "median miss (%)", "largest (%)", "accuracy (points)",
    ]  # fmt: skip
    return [told, "\n".join(markdown_table(heads, rows, "l" + "r" * len(heads[1:])))]


def _mean_gain(rows: pd.DataFrame, name: str) -> float:
    return float(rows[f"gain {name}"].mean())


def _capital(text: str) -> str:
    named = f"the {text}" if text == USUAL else text
    return named[:1].upper() + named[1:]


def follows(table: pd.DataFrame) -> list[str]:
    """Whether better local optima of one program classify better."""
    found = questions.correlations(table)
    programs = len(questions.misses(table))
    if found.empty:
        return [f"None of the {programs} programs has three local optima of unlike accuracy."]
    rho = questions.bootstrapped(found, lambda rows: float(rows["rho"].mean()))
    return [
        f"{len(found)} of {programs} programs, of {rho.pairs} pairs, have at least three distinct "
        "local optima whose accuracies differ. Spearman's correlation of objective and test "
        f"accuracy over the optima of one program is {rho.value:.2f} in the mean "
        f"({rho.low:.2f} to {rho.high:.2f})."
    ]


def winners(table: pd.DataFrame, protocol: Protocol) -> list[str]:
    """Tests, mean ranks, differences from the dual, and ranks by the negative share."""
    outcome = questions.study(table, protocol)
    told = [text for text in outcome.conclusions if "fits are proved" not in text]
    ranks = questions.group_ranks(table, protocol).filter(like="negative")
    compared = "SVMDual" in outcome.ranks
    rows = []
    for name in shown(protocol, outcome.ranks):
        row = [f"`{name}`", f"{outcome.ranks[name]:.2f}"]
        if compared:
            gains = questions.gains(table, name, "SVMDual")
            median = questions.differences(table, name, "SVMDual")["gain"].median()
            row += ["–"] * 2 if name == "SVMDual" else [points(gains), f"{100 * median:+.1f}"]
        rows.append([*row, *(f"{value:.2f}" for value in ranks.loc[name])])
    heads = ["method", f"mean rank ({len(outcome.study.sources)})"]
    heads += ["mean gain", "median gain"] * compared
    explained = (
        "Columns have the number of their pairs; ranks in groups are not tested. A gain is the "
        "accuracy minus that of `SVMDual`, in points, over the pairs; intervals are not adjusted "
        "for their number."
    )
    listed_ranks = markdown_table([*heads, *ranks], rows, "l" + "r" * len([*heads[1:], *ranks]))
    return [" ".join(told), explained, "\n".join(listed_ranks)]


def shown(protocol: Protocol, ranks: dict[str, float]) -> list[str]:
    """The methods from the best mean rank on, each classifier once."""
    order = sorted(ranks, key=ranks.__getitem__)
    return [name for name in order if SAME.get(name) not in ranks]


def accuracies(table: pd.DataFrame, protocol: Protocol) -> list[str]:
    """The mean accuracy of every method on every pair."""
    methods = shown(protocol, questions.study(table, protocol).ranks)
    rows = table[(table["part"] == "study") & (table["error"] == "")]
    means = 100.0 * rows.pivot_table(index="pair", columns="method", values="accuracy")
    lines = [
        [
            str(pair),
            *(f"**{value:.1f}**" if value == row.max() else f"{value:.1f}" for value in row),
        ]
        for pair, row in means[methods].round(1).iterrows()
    ]
    heads = ["accuracy (%)", *(f"`{name}`" for name in methods)]
    text = "Mean accuracies over the folds, with the best of each pair in bold:"
    return [text, "\n".join(markdown_table(heads, lines, "l" + "r" * len(methods)))]


def summarised(table: pd.DataFrame, protocol: Protocol) -> list[str]:
    """The methods with the best mean ranks, over all pairs and in groups, for the guide."""
    outcome, groups = questions.study(table, protocol), questions.group_ranks(table, protocol)
    count = len(outcome.study.sources)
    ranks = {f"all ({count})": pd.Series(outcome.ranks), **{name: groups[name] for name in groups}}
    rows = []
    for name, column in ranks.items():
        best = column.sort_values(kind="stable").iloc[:FIRST]
        rows.append([name, ", ".join(f"`{method}` {rank:.1f}" for method, rank in best.items())])
    heads = ["pairs of the atlas", f"best mean ranks of {len(outcome.ranks)} methods by accuracy"]
    told = [text for text in outcome.conclusions if text.startswith("The best mean rank")]
    told = [f"{text} Ranks in groups are not tested." for text in told]
    return [*told, "\n".join(markdown_table(heads, rows, "ll"))]


def costs(table: pd.DataFrame) -> list[str]:
    """The seconds of proofs, and how they grow with n and with the negative share."""
    found = questions.misses(table)
    found = found[found["q"] > 0]
    proved = found["proved_within"] <= CLOSE
    closed = found[proved]
    if closed.empty:
        return ["No nonconvex program was proved."]
    quartiles = np.quantile(closed["seconds"], [0.25, 0.5, 0.75])
    levels = ", ".join(
        f"{100 * proved[found['C'] == C].mean():.0f} % at C = {C:g}"
        for C in sorted(found["C"].unique())
    )
    told = (
        f"{len(closed)} of {len(found)} nonconvex programs were proved: {levels}. The median proof "
        f"took {quartiles[1]:.2g} s, the middle half {quartiles[0]:.2g} to {quartiles[2]:.2g} s."
    )
    large = found["n"] > LARGE
    if large.any():
        told += (
            f" Among the {large.sum()} programs of more than {LARGE} points "
            f"{100 * proved[large].mean():.0f} % were proved."
        )
    if closed["pair"].nunique() >= 5:
        grown = questions.growth(found)
        power, factor = grown["exponent of n"], grown["factor for 10 points"]
        told += (
            f" Among the proved ones seconds grow like n to the power {power.value:.1f} "
            f"({power.low:.1f} to {power.high:.1f}). At fixed C, ten more points of negative share "
            f"multiply them by {factor.value:.2g} ({factor.low:.2g} to {factor.high:.2g}). "
            "Programs whose proof would take longer are not in this fit."
        )
    return [told]


def unproved(table: pd.DataFrame) -> list[str]:
    """The fits of nonconvex formulations whose gap is not closed."""
    rows = questions.nonconvex(table)
    open_ = rows[rows["proved_within"] > CLOSE]
    told = [
        f"{len(rows) - len(open_)} of {len(rows)} tested fits of nonconvex formulations "
        f"({100 * (1 - len(open_) / max(1, len(rows))):.1f} %) are proved. With more than two "
        "classes the gap is that of the worst pair. Fits that choose parameters are not proved."
    ]
    if open_.empty:
        return told
    gaps = open_.groupby(["pair", "method"])["proved_within"].agg(["size", "max"])
    lines = [
        [*names, f"{size:.0f}", f"{100 * gap:.2g}"]
        for names, size, gap in gaps.sort_values("max", ascending=False).itertuples()
    ]
    heads = ["pair", "method", "open fits", "largest gap (%)"]
    return [*told, "\n".join(markdown_table(heads, lines, "llrr"))]


def limits(table: pd.DataFrame) -> list[str]:
    """What a reader has to know before the numbers are used elsewhere."""
    rows = table[(table["part"] == "study") & (table["error"] == "")]
    last = f"C={BOUNDS[-1]:g}"
    at_end = {
        str(name): 100 * group["chosen"].str.contains(last, regex=False).mean()
        for name, group in rows.groupby("method")
        if group["chosen"].str.contains(last, regex=False).any()
    }
    most = sorted(at_end, key=lambda name: -at_end[name])[:3]
    ends = ", ".join(f"{at_end[name]:.0f} % of the fits of `{name}`" for name in most)
    objects = {pairs()[name].dataset for name in rows["pair"].unique()}
    told = [
        f"- The {rows['pair'].nunique()} pairs are of {len(objects)} labelled sets of objects, so "
        "that they are not independent. Intervals and tests take them as if they were."
    ]
    if most:
        told.append(
            f"- The grid of C is short: its end, {BOUNDS[-1]:g}, is chosen in {ends}. The "
            "ρ of `LussDual` is fixed."
        )
    fits = rows.loc[rows["method"] == "SVMDual", "chosen"]
    fits = fits[fits.str.contains("distance(", regex=False)]
    if len(fits):
        first = fits.str.contains("form=linear", regex=False).sum()
        told.append(
            "- Negative shares, misses and costs are those of the first kernel, for distances "
            f"-d²/2. {first} of {len(fits)} tested fits of `SVMDual` on distances chose it."
        )
    return ["\n".join(told)]


def again() -> list[str]:
    """The commands."""
    return [
        "In a copy of the repository:",
        "```sh\npip install '.[atlas]'\n"
        "python -m reproduction.atlas --quick  # a handful of pairs\n"
        "python -m reproduction.atlas --jobs 2 --store atlas  # all; runs again what is missing\n"
        "python -m reproduction.atlas --report  # this page from the stored table\n```",
        "`INDEFINITE_OPT_DATA` names the folder of the sets that no package ships.",
    ]
