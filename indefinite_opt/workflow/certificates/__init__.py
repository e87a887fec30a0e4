"""Certificates: what is proved about a point, and proofs that can be checked independently.

`verify` measures a point; the claim follows from the measurements. Proofs are written to files,
which `proof_checker` checks in exact arithmetic without this package.
"""

from indefinite_opt.quadratic import Certificate, NoOptimum, proof_checker
from indefinite_opt.workflow.certificates import documents
from indefinite_opt.workflow.certificates.verification import convex_gap, convexity, verify
