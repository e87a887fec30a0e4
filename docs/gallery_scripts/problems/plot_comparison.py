"""
Formulations on the same folds
==============================

Accuracy with its spread over the folds, time, and what was proved of each solution.
"""

import indefinite_opt as iopt

data = iopt.datasets.load("checkerboard(n=100, cells=2)")
problem = iopt.KernelProblem.from_data(data.X, data.y, "l1-gaussian(gamma=4)", scaling="minmax")
methods = ["SVMDual(C=10)", "SpectrumSVM(C=10)", "ESVM(C=10)", "LPSVM(C=10)", "KNN", "LIBSVM(C=10)"]
iopt.compare(problem, methods, folds=2)  # loads libraries, so that times below are of solves alone
comparison = iopt.compare(problem, methods)
figure = comparison.plot()

# %%
# A row for each method: its accuracy over five folds, its time, and what was proved of its
# solution. The dashed line is the accuracy of the larger class alone. Shapes and colours of the
# marks on the right are claims.
