"""Writes a page for every command, from the command itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer.main
from typer.testing import CliRunner

from indefinite_opt.command_line.app import app

INTRODUCTION = """# Commands

`indefinite-opt COMMAND --help` prints what stands on these pages. Commands that read data take the
same options for them; [](../guide/files.md) tells what the files look like.

| command | what it does |
|---|---|
"""


def write(folder: Path) -> None:
    """Write the pages and their index; files that have not changed are left alone."""
    folder.mkdir(parents=True, exist_ok=True)
    group: Any = typer.main.get_command(app)
    pages, rows = {}, []
    for name, command in group.commands.items():
        # What the command does, and its help, with those of its own commands.
        parts = [f"# {name}", command.get_short_help_str(200), _help(name)]
        for inner in getattr(command, "commands", {}):
            parts += [f"## {name} {inner}", _help(name, inner)]
        rows.append(f"| [`{name}`]({name}.md) | {parts[1]} |")
        pages[name] = "\n\n".join(parts) + "\n"
    tree = "\n".join(["```{toctree}", ":hidden:", "", *pages, "```", ""])
    pages["index"] = INTRODUCTION + "\n".join(rows) + "\n\n" + tree
    for name, text in pages.items():
        path = folder / f"{name}.md"
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def _help(*words: str) -> str:
    """The help of a command at 100 columns."""
    found = CliRunner().invoke(
        app, [*words, "--help"], terminal_width=100, prog_name="indefinite-opt"
    )
    return f"```text\n{found.stdout.strip()}\n```"
