"""Solvers of single formulations."""
