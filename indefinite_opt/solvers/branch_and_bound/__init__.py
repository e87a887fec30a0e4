"""Global optima of quadratic programs on a box and a line, with their proofs."""
