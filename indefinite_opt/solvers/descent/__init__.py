"""Local solvers of quadratic programs on a box and a line."""
