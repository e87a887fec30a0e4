"""
Methods over several data sets
==============================

Mean ranks of five methods with the same indefinite kernel on fifteen small data sets. Each method
takes the best of its parameters on each data set. Bars join methods that the data do not separate.
"""

from indefinite_opt.studies import Grid, Study

data = [f"checkerboard(n=60, cells={k}, seed={seed})" for k in (2, 3, 4) for seed in range(5)]
kernel, C = "l1-gaussian(gamma=1)", [0.1, 1, 10, 100]
methods = {name: Grid(name, kernel=kernel, C=C) for name in ("SVMDual", "LPSVM", "ESVM")}
methods |= {
    "UniformWeights": Grid("UniformWeights", kernel=kernel),
    "KNN": Grid("KNN", k=[1, 3, 5]),
}
figure = Study(data, methods, 3).run().plot()

# %%
# Five methods on an axis of mean ranks over fifteen data sets; the further left, the better. A bar
# joins methods whose ranks differ by less than the critical difference. Here the data separate two
# groups: ``SVMDual`` with this kernel is not better than equal weights for all points, and the
# ranks within a group decide nothing.
