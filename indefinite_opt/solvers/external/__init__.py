"""Solvers of other packages."""
