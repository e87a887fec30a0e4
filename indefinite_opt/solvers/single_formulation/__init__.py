"""Solvers that were made for one formulation."""
