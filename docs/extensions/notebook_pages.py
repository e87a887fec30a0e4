"""Copies the notebooks into the site, with the alternative texts of their pictures."""

from __future__ import annotations

import json
from pathlib import Path


def write(source: Path, target: Path) -> None:
    """Copy every notebook.

    Jupyter reads the text of a picture from the metadata of its output, MyST from its cell's.
    """
    target.mkdir(parents=True, exist_ok=True)
    for path in sorted(source.glob("*.ipynb")):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        for cell in notebook["cells"]:
            outputs = cell.get("outputs", [])
            alts = [out.get("metadata", {}).get("image/png", {}).get("alt") for out in outputs]
            alt = next(filter(None, alts), None)
            if alt:
                cell["metadata"]["mystnb"] = {"image": {"alt": alt}}
        text = json.dumps(notebook, ensure_ascii=False)
        copy = target / path.name
        if not copy.exists() or copy.read_text(encoding="utf-8") != text:
            copy.write_text(text, encoding="utf-8")
