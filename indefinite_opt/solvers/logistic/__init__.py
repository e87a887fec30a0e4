"""Solvers of kernel logistic regression."""
