"""
Edit distances of words
=======================

Twenty of the eighty words of the data set `words`, English and Italian, and the spectrum of the
kernel -d²/2 of all of them: a fifth of it is negative.
"""

# sphinx_gallery_thumbnail_number = 2
import numpy as np
from matplotlib.figure import Figure

import indefinite_opt as iopt

data = iopt.datasets.load("words")
problem = iopt.KernelProblem.from_dataset(data, form="linear")
chosen = np.r_[0:10, 40:50]
figure = Figure(figsize=(9, 4.4), layout="constrained")
left, right = figure.subplots(1, 2)
left.imshow(data.D[np.ix_(chosen, chosen)], cmap="Greys")
names = [problem.objects[k] for k in chosen]
left.set_xticks(range(20), names, rotation=90)
left.set_yticks(range(20), names)
left.set_title("edit distance")
values = problem.centered_spectrum.values
right.bar(range(len(values)), values[::-1], width=1.0, color=np.where(values[::-1] < 0, "C1", "C0"))
right.set(
    title=f"{100 * problem.negative_share:.3g} % negative", xlabel="rank", ylabel="eigenvalue"
)

# %%
# Edit distances between twenty words as a square of grey cells, and the eigenvalues of the kernel
# of all eighty. The lighter a cell, the more similar are two words. The negative eigenvalues show
# that these are not distances of points in a Euclidean space.
