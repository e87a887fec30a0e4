"""The versions of everything that results depend on, as a report of a bug needs them."""

from __future__ import annotations

import os
import platform

from indefinite_opt.core import library
from indefinite_opt.foundation import libraries, version_of

PACKAGES = (
    "numpy", "scipy", "scikit-learn", "cvxpy", "clarabel", "highspy", "osqp", "unopy", "joblib",
    "threadpoolctl", "pandas", "matplotlib",
)  # fmt: skip


def show_versions() -> None:
    """Print the versions of this package, Python, the system and the packages that it calls.

    It also prints which build of the compiled loops is used and why, and the libraries of linear
    algebra (BLAS). Give what it prints in a report of a bug.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> iopt.show_versions()  # doctest: +ELLIPSIS
    indefinite_opt  ...
    core            ...
    Python          ...
    """
    lines = {
        "indefinite_opt": version_of("indefinite_opt"),
        "core": core(),
        "Python": f"{platform.python_version()}, {platform.python_implementation()}",
        "platform": f"{platform.platform()}, {os.cpu_count()} cores",
        "BLAS": "; ".join(dict.fromkeys(map(_described, libraries()))) or "unknown",
        **{name: version_of(name).replace("0+not.", "not ") for name in PACKAGES},
    }
    print("\n".join(f"{name:<14}  {line}" for name, line in lines.items()))


def core() -> str:
    """The build of the compiled loops that this process uses, and why."""
    if os.environ.get(library.VARIABLE):
        return f"{library.build}, because {library.VARIABLE} names it"
    has = "has" if library.build == library.AVX2 else "does not have"
    return f"{library.build}, because this processor {has} AVX2"


def _described(blas: object) -> str:
    """Name and version of a library, the processor for which it computes, and its threads.

    >>> class Library:
    ...     internal_api, version, architecture, num_threads = "openblas", "0.3.30", "Zen", 2
    >>> _described(Library())
    'openblas 0.3.30, Zen, 2 threads'
    """
    name, version, made_for, threads = (
        getattr(blas, each, None)
        for each in ("internal_api", "version", "architecture", "num_threads")
    )
    return ", ".join(
        filter(None, (f"{name} {version or ''}".strip(), made_for, f"{threads} threads"))
    )
