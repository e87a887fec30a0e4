"""Solvers of quadratic programs whose kernel matrix is kept as factors."""
