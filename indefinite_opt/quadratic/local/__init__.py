"""Local solvers."""
