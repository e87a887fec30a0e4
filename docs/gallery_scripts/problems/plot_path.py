"""
A path of the bound C
=====================

Fifty values of C, each solved from the solution of the one before: objective, support vectors, and
the accuracy on the training points and on others.
"""

import numpy as np

import indefinite_opt as iopt

data = iopt.datasets.load("checkerboard(n=400, cells=2)")
X, y, X_test, y_test = data.X[::2], data.y[::2], data.X[1::2], data.y[1::2]
problem = iopt.KernelProblem.from_data(X, y, "l1-gaussian(gamma=4)", scaling="minmax")
path = iopt.solve_path(problem, [iopt.SVMDual(C=C) for C in np.logspace(-3, 3, 50)], solver="smo")
figure = path.plot(test=(X_test, y_test))

# %%
# Three panels over C: objective, number of support vectors and accuracy. The objective grows with
# C, and fewer points remain support vectors. From some C on the accuracy on other points no longer
# rises with that on the training points.
