"""Local solvers of quadratic programs whose variables move in pairs or alone."""
