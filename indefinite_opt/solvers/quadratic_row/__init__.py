"""Solvers of quadratic programs with one quadratic row."""
