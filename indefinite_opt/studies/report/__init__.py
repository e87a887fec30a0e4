"""Comparisons as tables and pages."""
