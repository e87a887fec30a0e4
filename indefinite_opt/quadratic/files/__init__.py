"""Files that hold a quadratic program."""
