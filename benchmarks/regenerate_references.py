"""Compute the reference library anew: `python benchmarks/regenerate_references.py FOLDER`.

The folder of the package is `indefinite_opt/studies/reference_library/data`. Each row is written as
soon as it is known; better points are kept, and brackets are always recomputed. With `--missing`
rows that the table has are left as they are, so that an interrupted run can go on.
"""

from __future__ import annotations

import argparse
from fnmatch import fnmatchcase
from pathlib import Path

from indefinite_opt.studies.reference_library import library as references


def show(entry: references.Reference) -> None:
    """Print one line per finished row."""
    gap = f"{entry.relative_gap:.1e}"
    print(f"{entry.name}: {entry.best:.10g}, gap {gap}, {entry.method}", flush=True)


def main() -> None:
    """Read the command line and compute the rows."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="where the table is, or is to be")
    parser.add_argument("pattern", nargs="?", default="*", help="names to compute: 'sigmoid-*'")
    parser.add_argument("--time-limit", type=float, default=60.0, help="seconds for each bracket")
    parser.add_argument(
        "--gap", type=float, default=references.TARGET_GAP, help="relative gap to reach"
    )
    parser.add_argument("--missing", action="store_true", help="only rows that the table lacks")
    options = parser.parse_args()
    known = [instance.name for instance in references.instances()]
    names = [name for name in known if fnmatchcase(name, options.pattern)]
    if options.missing and (options.folder / references.TABLE).exists():
        there = {entry.name for entry in references.references(options.folder)}
        names = [name for name in names if name not in there]
    references.regenerate(options.folder, names, options.time_limit, options.gap, progress=show)


if __name__ == "__main__":
    main()
