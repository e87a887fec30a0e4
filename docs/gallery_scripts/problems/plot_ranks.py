"""
Methods over several data sets
==============================

Mean ranks of four methods with the same indefinite kernel and the same C on six small data sets;
bars join methods that the data do not separate.
"""

from indefinite_opt.studies import Grid, Study

data = [f"checkerboard(n=60, cells={k})" for k in (2, 3, 4)]
data += [f"checkerboard(n=60, cells={k}, seed=1)" for k in (2, 3, 4)]
calls = ("SVMDual(C=10)", "LPSVM(C=10)", "ESVM(C=10)", "KNN")
methods = {call.partition("(")[0]: Grid(call, kernel="l1-gaussian(gamma=4)") for call in calls}
figure = Study(data, methods, 3).run().plot()

# %%
# Four methods on an axis of mean ranks over six data sets; the further left, the better. A bar
# joins methods whose ranks differ by less than the critical difference. Six data sets separate few
# methods, and here none.
