"""Run notebooks and store their outputs: `python notebooks/execute.py [01 04 ...]`.

Without numbers all are run. Metadata that differ from run to run, such as times, are left out.
With `--handouts FOLDER` nothing is run: copies whose exercises have no solutions are written there.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import nbclient
import nbformat

FOLDER = Path(__file__).parent


def execute(path: Path) -> None:
    """Run one notebook in its folder, and write it with its outputs."""
    notebook = nbformat.read(path, as_version=4)
    client = nbclient.NotebookClient(
        notebook,
        kernel_name="python3",
        record_timing=False,
        coalesce_streams=True,
        resources={"metadata": {"path": FOLDER}},
    )
    client.execute()
    nbformat.write(notebook, path)


def hand_out(path: Path, folder: Path) -> None:
    """Write a copy of a notebook without the solutions of its exercises."""
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = re.sub(r"\s*<details>.*?</details>", "", cell.source, flags=re.DOTALL)
    folder.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, folder / path.name)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Run notebooks, or write them without solutions.")
    parser.add_argument("numbers", nargs="*", metavar="NUMBER", help="such as 04; by default all")
    parser.add_argument("--handouts", type=Path, metavar="FOLDER", help="copies without solutions")
    options = parser.parse_args()
    for path in sorted(FOLDER.glob("*.ipynb")):
        if not options.numbers or path.name[:2] in options.numbers:
            if options.handouts is None:
                execute(path)
            else:
                hand_out(path, options.handouts)
            print(path.name)
