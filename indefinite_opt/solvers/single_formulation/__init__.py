"""Solvers that one formulation needs."""
