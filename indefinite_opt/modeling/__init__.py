"""Optimization problems as papers write them, and as solvers read them.

A `Formulation` declares a `Program`, which can print itself, and compiles it to the program from
which solvers and certificates get all they need. A solution defines a `Classifier`.
"""

from indefinite_opt.algebra import Definition, Inner, Model, Program, constants
from indefinite_opt.modeling.classifier import (
    LIFTED_MEANINGS,
    OFFSETS,
    TREATMENTS,
    Classifier,
    KernelChange,
    LeastError,
    ProxyChange,
    boundary_width,
    constant_scores,
    least_error_offset,
    lifted_classifier,
    mean_residual_classifier,
    outliers_beyond,
    proxy_change,
)
from indefinite_opt.modeling.compiler import model_ray, unbounded
from indefinite_opt.modeling.cvxpy_problem import CvxpyProblem
from indefinite_opt.modeling.formulation import (
    OUTLIERS,
    UNLABELLED,
    Formulation,
    check_weight_bound,
    of_both_sides,
    parameter,
    reduced_weight,
    share,
    weighted_bound,
)
from indefinite_opt.modeling.pairwise import (
    Pair,
    PairProblem,
    PairwiseClassifier,
    check_classes,
    name_pair,
    naming_pair,
    of_each_pair,
    of_points,
    pair_points,
    pair_problems,
    votes,
)
from indefinite_opt.modeling.partitions import Clusters, partition_loss, rounded
from indefinite_opt.modeling.rays import Growth, UnboundedRay, growth_form, is_ray, ray_checker
from indefinite_opt.modeling.semidefinite import (
    PROXY,
    PROXY_MEANINGS,
    penalised_proxy,
    proxy_dual,
    proxy_within,
)
from indefinite_opt.modeling.several import in_cvxpy, several_kernels
