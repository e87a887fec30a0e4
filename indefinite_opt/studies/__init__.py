"""Many problems, formulations and solvers at once."""
