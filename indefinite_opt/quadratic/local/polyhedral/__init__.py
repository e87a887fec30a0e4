"""Descent over linear rows."""
