"""
Methods over several data sets
==============================

Mean ranks of four methods on six small data sets; bars join methods that the data do not separate.
"""

from indefinite_opt.studies import Grid, Study

data = [f"checkerboard(n=60, cells={k})" for k in (2, 3, 4)]
data += [f"checkerboard(n=60, cells={k}, seed=1)" for k in (2, 3, 4)]
methods = {"SVM": Grid("SVMDual(C=10)", kernel="gaussian(gamma=9)")}
methods |= {name: Grid(name, kernel="gaussian(gamma=9)") for name in ("LPSVM", "ESVM", "KNN")}
figure = Study(data, methods, 3).run().plot()

# %%
# Four methods on an axis of mean ranks over six data sets; the further left, the better. A bar
# joins methods whose ranks differ by less than the critical difference. Six data sets separate few
# methods.
