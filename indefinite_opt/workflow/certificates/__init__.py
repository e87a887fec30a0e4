"""Certificates: what is proved about a point, and proofs that can be checked independently.

`verify` measures a point and `claim_of` derives the claim from the measurements. `proof_document`
writes proofs to files, which `proof_checker` checks in exact arithmetic without this package.
"""

from indefinite_opt.workflow.certificates import proof_checker
from indefinite_opt.workflow.certificates.certificate import Certificate, Facts, claim_of
from indefinite_opt.workflow.certificates.no_optimum import NoOptimum
from indefinite_opt.workflow.certificates.proof_document import read_document
from indefinite_opt.workflow.certificates.verification import convex_gap, convexity, verify
