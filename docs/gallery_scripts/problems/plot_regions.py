"""
Decision regions of twenty-one formulations
===========================================

One class fills a diamond, the other a ring around it (Haasdonk 2005, Figure 4a). All formulations
see the same indefinite kernel.
"""

# sphinx_gallery_thumbnail_number = 2
import indefinite_opt as iopt
from indefinite_opt.figures import regions_figure

data = iopt.datasets.load("haasdonk-figure4a(n=100, seed=0)")
problem = iopt.KernelProblem.from_data(data.X, data.y, "l1-gaussian(gamma=2)")
formulations = [
    iopt.SVMDual(C=10.0),
    iopt.NuSVM(nu=0.2),
    iopt.ConvexHullDual(mu=0.1),
    iopt.GuoSchuurmansQP(beta=0.1),
    iopt.LPSVM(C=10.0),
    iopt.GuoSchuurmansLP(beta=0.1),
    iopt.SeparabilitySVM(C=10.0),
    iopt.KernelLogistic(C=10.0),
    iopt.KSVM(C=10.0),
    iopt.KernelFisher(mu=0.1),
    iopt.NoisyLPSVM(C=10.0, kappa=0.1),
    iopt.MixedNormSVM(C=10.0),
    iopt.RankingSVM(C=0.01),
    iopt.L2SVM(C=0.1),
    iopt.MultipleKernelSVM(C=10.0),
    iopt.SpectrumSVM(C=10.0, transform="clip"),
    iopt.SpectrumSVM(C=10.0, transform="flip"),
    iopt.ESVM(C=10.0),
    iopt.LussDual(C=10.0, rho=1.0),
    iopt.LussBall(C=10.0),
    iopt.UniformWeights(),
]
figure = regions_figure(problem, [iopt.solve(problem, each, seed=0) for each in formulations])

# %%
# Maps of decision values over the plane. The borders of ``SVMDual``, ``NuSVM`` and
# ``ConvexHullDual`` have spikes that reach for single points of the ring. That of ``LPSVM`` is
# nearly a diamond, as the classes are, and those of ``ESVM`` and the clipped kernel are round.
# Rings round points mark support vectors.
