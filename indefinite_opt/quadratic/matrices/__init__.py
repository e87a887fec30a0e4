"""Symmetric matrices as solvers read them, and their spectra."""
