"""Solvers of linear programs."""
