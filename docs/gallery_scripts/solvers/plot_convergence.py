"""
Three methods for one proxy kernel
==================================

The gap of Luss and d'Aspremont's problem over iterations and seconds, for the two methods of the
paper and Newton's method.
"""

import indefinite_opt as iopt
from indefinite_opt.figures import convergence_figure

data = iopt.datasets.load("checkerboard(n=100, cells=2)")
problem = iopt.KernelProblem.from_data(data.X, data.y, "epanechnikov(gamma=2)", scaling="minmax")
methods = ["newton", "accpm", "projected-gradient"]
robust = iopt.LussDual(C=1.0, rho=0.1)
for _ in range(2):  # the first time loads libraries, which is no part of the times of the second
    results = {
        name: iopt.solve(problem, robust, solver=name, max_iter=300, time_limit=5)
        for name in methods
    }
figure = convergence_figure(results)

# %%
# Duality gaps of three methods on a logarithmic axis, over iterations on the left and over seconds
# on the right. A straight line on the left is linear convergence. Both panels may order the methods
# differently, since an iteration of one costs more than an iteration of another.
