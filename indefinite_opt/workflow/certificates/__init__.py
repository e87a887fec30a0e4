"""Certificates: what is proved about a point, and proofs that can be checked independently.

`measure` finds the numbers of a point, `claim_of` what they prove, and `explain` the words for it;
`verify` is all three. Proofs are written to files,
which `proof_checker` checks in exact arithmetic without this package.
"""

from indefinite_opt.quadratic import Certificate, NoOptimum, proof_checker
from indefinite_opt.workflow.certificates import documents
from indefinite_opt.workflow.certificates.measurement import convex_gap, convexity
from indefinite_opt.workflow.certificates.verification import certify, verify
