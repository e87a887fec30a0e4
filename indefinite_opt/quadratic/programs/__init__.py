"""Programs: an objective and a feasible set, as solvers and certificates read them."""
