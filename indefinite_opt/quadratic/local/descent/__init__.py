"""Descent on a box with lines."""
