"""Pictures from plain data."""
