"""The local solver of quadratic programs with any linear rows."""
