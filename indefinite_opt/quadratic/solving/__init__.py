"""Tasks, solvers and solutions."""
