"""Programs with linear rows: feasible points, bounds, and proofs that there is no optimum."""
