"""Problems with known optima, to check a solver against.

`load` a problem by its name, `check` values against its certified bracket, `export` it for another
solver, and `prove` its bound anew.
"""

from indefinite_opt.studies.reference_library.instances import Digest, Instance
from indefinite_opt.studies.reference_library.library import (
    Check,
    FalseCertificate,
    Reference,
    Standing,
    check,
    export,
    load,
    proof,
    prove,
    references,
)

__all__ = [
    "Check",
    "Digest",
    "FalseCertificate",
    "Instance",
    "Reference",
    "Standing",
    "check",
    "export",
    "load",
    "proof",
    "prove",
    "references",
]
