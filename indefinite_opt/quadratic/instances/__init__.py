"""Quadratic programs by name, on every machine the same: graphs, laws of random numbers, plans."""

from indefinite_opt.quadratic.instances.by_name import SUITE, generate, graph, names
from indefinite_opt.quadratic.instances.graphs import (
    Graph,
    bomze,
    cycle_join,
    hamming,
    johnson,
    keller,
    lattice,
    paley,
    triangular,
    turan,
)
from indefinite_opt.quadratic.instances.random_programs import (
    Draws,
    bilinear,
    blending,
    box_qp,
    concave,
    joint_bilinear,
    max_cut,
    portfolio,
    row_qp,
    spin_glass,
    standard_qp,
    transportation,
)
