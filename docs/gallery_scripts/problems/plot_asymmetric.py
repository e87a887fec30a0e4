"""
An asymmetric similarity of words
=================================

The share of the letter pairs of a word that another word has is no symmetric similarity: it is
larger from a short word to a long one. `AsKLS` and `BilinearSVM` learn a source and a target side.
"""

import numpy as np
from matplotlib.figure import Figure

import indefinite_opt as iopt

data = iopt.datasets.load("words")
pairs = [set(zip(f"^{word}", f"{word}$", strict=True)) for word in data.names]
K = np.array([[len(one & other) / len(one) for other in pairs] for one in pairs])
problem = iopt.KernelProblem(K, data.y, asymmetric=True, name="words")

figure = Figure(figsize=(9, 4.4), layout="constrained")
left, right = figure.subplots(1, 2)
y = problem.y


def draw(axes, result, b_s, b_t):
    """The values of both sides at the words, and the share of words that the sum errs on."""
    f_s = K @ (y * result.values["beta"]) + b_s
    f_t = K.T @ (y * result.values["alpha"]) + b_t
    axes.scatter(f_s, f_t, s=14, c=np.where(y > 0, "C0", "C1"))
    axes.axhline(0.0, color="0.8", zorder=0)
    axes.axvline(0.0, color="0.8", zorder=0)
    axes.axline((0.0, 0.0), slope=-1.0, color="0.3", linewidth=0.8)
    axes.set(title=str(result.formulation), xlabel="source side", ylabel="target side")
    wrong = (100 * np.mean(y * f < 0.0) for f in (f_s, f_t, f_s + f_t))
    print(result.formulation, result.certificate.claim.name, *(f"{one:.3g} %" for one in wrong))


squares = iopt.solve(problem, iopt.AsKLS(gamma=10.0))
draw(left, squares, squares.values["b_s"], squares.values["b_t"])
hinges = iopt.solve(problem, iopt.BilinearSVM(C=1.0), prove=60.0)
offsets = hinges.multipliers
draw(right, hinges, offsets["balance_alpha"], offsets["balance_beta"])

# %%
# Eighty words in two squares by the values of the source and the target side, English ones in blue
# and Italian ones in orange. The sum of both decides, which is 0 on the black line. On the left,
# for the least-squares machine, each side tells the languages apart. On the right is the proved
# optimum of the program with hinge losses, where the source side errs on half of the words.
