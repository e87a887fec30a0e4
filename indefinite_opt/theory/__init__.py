"""Theorems of the papers, checked on given data."""
