"""Arrays, names and standard form of a quadratic program."""
