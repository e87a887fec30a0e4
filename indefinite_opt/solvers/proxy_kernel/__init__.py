"""Solvers of the Luss duals."""
