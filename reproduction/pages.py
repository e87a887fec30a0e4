"""Reproductions as HTML pages, as Markdown tables, and as files from which an index is made."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from string import Template
from typing import Any

from indefinite_opt.studies import Study
from reproduction.comparison import GRADES, Compared, Reproduction, Tally
from reproduction.declaration import studies
from reproduction.markup import definitions, escaped, image, markdown_table, row_head, svg, table

MARKDOWN = "markdown"
"""Folder of the Markdown tables beside the pages."""

HEADS = (
    "study", "shows", "numbers", "run", "within 1 sd", "within 2 sd", "explained", "not counted",
    "statements", "time",
)  # fmt: skip
"""The columns of the index."""

NUMBERS = tuple(head for head in HEADS if head != "statements")
"""Those of the Markdown table of numbers."""

COUNTING = (
    "A number is reproduced if ours differs by at most two of the paper's standard deviations, or "
    "by 3 points where the paper prints none. Every other number has a reason on its page, with "
    "the experiment that shows it. Not counted are times, numbers from which we inferred a kernel "
    "or a choice of the data, numbers for which other data or another kernel stand in, and numbers "
    "that the paper prints twice. The statements are what the text of a paper says about its "
    "figures, judged by our numbers."
)
"""What the index of the studies counts."""

JUDGED = ("study", "shows", "statements", "time")
"""Those of the Markdown table of statements."""


def write_study(reproduction: Reproduction, folder: Path) -> Path:
    """Write NAME.html, which is returned, markdown/NAME.md with NAME.svg, and NAME.json."""
    study, name = reproduction.study, reproduction.name
    (folder / MARKDOWN).mkdir(parents=True, exist_ok=True)
    facts = {
        "command": reproduction.command,
        "computing time": duration(reproduction.seconds),
        "extent": "quick" if reproduction.quick else "full",
    } | reproduction.versions
    page = _filled(
        "study.html",
        title=escaped(study.heading),
        lead=escaped(_lead(reproduction)),
        facts=definitions(facts.items()),
        sections="\n".join(_sections(reproduction)),
        choices="".join(f"<li>{escaped(choice)}</li>" for choice in study.choices),
        settings=definitions(_settings(reproduction)),
    )
    verdicts = reproduction.verdicts
    entry = {
        "title": study.heading,
        "shows": study.title,
        "quick": reproduction.quick,
        "seconds": reproduction.seconds,
        "tally": reproduction.tally._asdict(),
        "versions": reproduction.versions,
        "statements": [sum(one.holds for one in verdicts.values()), len(verdicts)],
    }
    write(folder / f"{name}.json", json.dumps(entry))
    if reproduction.figure is not None:
        picture = svg(reproduction.figure, name, small=True)
        write(folder / MARKDOWN / f"{name}.svg", picture.decode("utf-8"))
    write(folder / MARKDOWN / f"{name}.md", markdown(reproduction))
    return write(folder / f"{name}.html", page)


def write_index(folder: Path) -> Path:
    """Write index.html, which is returned, and markdown/README.md.

    The former has all studies, the latter those that were run.
    """
    entries: dict[str, dict[str, Any]] = {}
    for name, study in studies().items():
        path = folder / f"{name}.json"
        made = {"title": study.heading, "shows": study.title}
        entries[name] = json.loads(path.read_bytes()) if path.is_file() else made
    run = [entry for entry in entries.values() if "tally" in entry]
    held, said = (sum(entry["statements"][k] for entry in run) for k in (0, 1))
    total = Tally(*map(sum, zip(*(entry["tally"].values() for entry in run), strict=True)))
    lead = f"{total} {_statements_held(held, said)}".strip()
    rows: list[list[str]] = []
    lines: list[dict[str, str]] = []
    used = sorted({_versions(entry["versions"]) for entry in run})
    for name, entry in entries.items():
        link, title, counts = escaped(entry["title"]), entry["title"], _counts(entry)
        if "tally" in entry:
            link, title = f'<a href="{name}.html">{link}</a>', f"[{title}]({name}.md)"
        numbers = (f'<td class="n">{escaped(text)}</td>' for text in counts)
        rows.append([row_head(link), f"<td>{escaped(entry['shows'])}</td>", *numbers])
        lines.append(dict(zip(HEADS, (title, entry["shows"], *counts), strict=True)))
    heads = [head.capitalize() for head in HEADS]
    page = _filled("index.html", lead=escaped(lead), table=table(heads, rows, texts=2))
    (folder / MARKDOWN).mkdir(parents=True, exist_ok=True)
    text = ["# The papers, reproduced", "", lead, "", COUNTING, ""]
    for column, shown in (("numbers", NUMBERS), ("statements", JUDGED)):
        chosen = [line for line in lines if line[column] not in ("–", "0")]
        cells = ([line[head] for head in shown] for line in chosen)
        text += [*markdown_table(shown, cells, "ll" + "r" * (len(shown) - 2)), ""]
    text += [f"The results were computed with {each}." for each in used]
    write(folder / MARKDOWN / "README.md", "\n".join([*text, ""]))
    return write(folder / "index.html", page)


def write(path: Path, text: str) -> Path:
    """Write a file in one step, so that a reader never sees half of it; it is returned."""
    part = path.with_suffix(".part")
    part.write_text(text, encoding="utf-8", newline="\n")
    return part.replace(path)


def _versions(versions: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {version}" for name, version in versions.items())


def _filled(name: str, **parts: str) -> str:
    """One of the templates beside this file with its parts and with the style sheet."""
    template, style = (
        Path(__file__).with_name(one).read_text(encoding="utf-8") for one in (name, "page.css")
    )
    return Template(template).substitute(style=style, **parts)


def _lead(reproduction: Reproduction) -> str:
    study = reproduction.study
    verdicts = reproduction.verdicts.values()
    parts = [
        f"{study.title} ({study.place}).",
        str(reproduction.tally),
        _statements_held(sum(one.holds for one in verdicts), len(verdicts)),
    ]
    return " ".join(filter(None, parts))


def _counts(entry: Mapping[str, Any]) -> list[str]:
    """The numbers of a study in the index."""
    if "tally" not in entry:
        return ["–"] * 7 + ["not run"]
    numbers, (held, said) = entry["tally"].values(), entry["statements"]
    return [
        *(map(str, numbers) if any(numbers) else ["–"] * len(numbers)),
        f"{held} of {said}" if said else "–",
        duration(entry["seconds"]) + (" (quick)" if entry["quick"] else ""),
    ]


def _statements_held(held: int, total: int) -> str:
    """How many statements about figures hold; empty without statements.

    >>> _statements_held(2, 3)
    '2 of 3 statements hold here.'
    >>> _statements_held(2, 2)
    'Both statements hold here.'
    """
    if held < total or total < 2:
        return f"{held} of {total} statements hold here." if total else ""
    return f"{'Both' if total == 2 else f'All {total}'} statements hold here."


def duration(seconds: float) -> str:
    """A time in seconds, minutes or hours.

    >>> duration(0.3), duration(90), duration(10000)
    ('0.3 s', '1.5 min', '2.8 h')
    """
    for size, unit in ((3600.0, "h"), (60.0, "min")):
        if seconds >= size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.1f} s"


def _sections(reproduction: Reproduction) -> list[str]:
    parts = []
    if reproduction.compared:
        notes, _ = reproduction.footnotes
        items = (f'<li id="note-{k}">{escaped(note)}</li>' for k, note in enumerate(notes, 1))
        rows = (
            [row_head(escaped(row)), *(_entry(reproduction, one) for one in entries)]
            for row, entries in reproduction.lines.items()
        )
        used = {one.grade for one in reproduction.compared.values()}
        legend = "".join(
            f'<tr><td class="{name}">{escaped(meaning)}</td></tr>'
            for name, meaning in GRADES.items()
            if name in used
        )
        parts.append(
            "<section><h2>Our numbers above, the paper's below</h2>"
            f"{table(['', *reproduction.columns], rows, texts=1)}"
            f'<div class="scroll"><table><tbody>{legend}</tbody></table></div>'
            + (f'<ol class="notes">{"".join(items)}</ol>' if notes else "")
            + "</section>"
        )
    figure = reproduction.figure
    if figure is not None:
        caption = f"{reproduction.study.title}; in the layout of the paper."
        parts.append(
            f"<section><h2>Figure</h2><figure>{image(figure, reproduction.study.heading)}"
            f"<figcaption>{escaped(caption)}</figcaption></figure></section>"
        )
    if reproduction.verdicts:
        verdicts = (
            [
                row_head(escaped(sentence)),
                f"<td>{escaped(one.measured)}</td>",
                '<td class="close">yes</td>' if one.holds else '<td class="outside">no</td>',
            ]
            for sentence, one in reproduction.verdicts.items()
        )
        parts.append(
            f"<section><h2>What the paper says of it</h2>{table(VERDICT_HEADS, verdicts)}</section>"
        )
    return parts


VERDICT_HEADS = ("the paper", "here", "holds")


def _entry(reproduction: Reproduction, one: Compared | None) -> str:
    """A cell with our number, the mark of its note and the number of the paper."""
    if one is None:
        return "<td></td>"
    mark = reproduction.footnotes[1].get(one)
    raised = f'<sup><a href="#note-{mark}">{mark}</a></sup>' if mark else ""
    return (
        f'<td class="n {one.grade}">{escaped(one.ours or "–")}{raised}'
        f"<small>{escaped(one.fact)}</small></td>"
    )


def _settings(reproduction: Reproduction) -> list[tuple[str, str]]:
    """The protocols and methods of the experiments."""
    found = []
    for label, experiment in reproduction.experiments.items():
        if isinstance(experiment, Study):
            found.append((f"{label}: protocol", str(experiment.plan.protocol)))
            found += [(f"{label}: {name}", str(grid)) for name, grid in experiment.grids.items()]
        else:
            found.append((f"{label}: settings", ", ".join(experiment.settings)))
    return found


def markdown(reproduction: Reproduction) -> str:
    """Table, picture and statements as GitHub shows them."""
    lines = [f"# {reproduction.study.heading}", "", _lead(reproduction), ""]
    if reproduction.figure is not None:
        lines += [f"![{reproduction.study.title}]({reproduction.name}.svg)", ""]
    if reproduction.verdicts:
        verdicts = (
            (sentence, one.measured, "yes" if one.holds else "**no**")
            for sentence, one in reproduction.verdicts.items()
        )
        lines += [*markdown_table(VERDICT_HEADS, verdicts, "lll"), ""]
    if reproduction.compared:
        notes, marks = reproduction.footnotes

        def cell(one: Compared | None) -> str:
            if one is None:
                return ""
            ours = f"**{one.ours}**" if one.grade in ("outside", "far") else one.ours or "–"
            return f"{ours} / {one.fact}{f' ({marks[one]})' if one in marks else ''}"

        rows = ((row, *map(cell, entries)) for row, entries in reproduction.lines.items())
        columns = reproduction.columns
        lines += [
            "Entries are our number / the paper's, in bold if not [reproduced](README.md).",
            "",
            *markdown_table(["", *columns], rows, "l" + "r" * len(columns)),
            "",
            *(f"({k}) {note}\n" for k, note in enumerate(notes, 1)),
        ]
    lines += [f"- {choice}" for choice in reproduction.study.choices]
    told = f"`{reproduction.command}`, {duration(reproduction.seconds)} of computing time."
    return "\n".join([*lines, "", told, ""])
