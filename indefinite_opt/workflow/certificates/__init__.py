"""Certificates: what is proved about a point, and proofs that can be checked independently.

`begun` and `measure` fill the `Answer` of a point, `claim_of` says what it proves, and `explain`
has the words for it; `verify` is all of these. Proofs are written to files, which `proof_checker`
checks in exact arithmetic without this package.
"""

from indefinite_opt.quadratic import Certificate, NoOptimum, proof_checker
from indefinite_opt.workflow.certificates import documents
from indefinite_opt.workflow.certificates.measurement import (
    begun,
    bound_by_duality,
    examine_conditions,
    is_convex,
)
from indefinite_opt.workflow.certificates.verification import certify, verify
