"""Run notebooks and store their outputs: `python notebooks/execute.py [01 04 ...]`.

Without numbers all are run. Metadata that differ from run to run, such as times, are left out.
"""

from __future__ import annotations

import sys
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


if __name__ == "__main__":
    for path in sorted(FOLDER.glob("*.ipynb")):
        if len(sys.argv) == 1 or path.name[:2] in sys.argv[1:]:
            execute(path)
            print(path.name)
