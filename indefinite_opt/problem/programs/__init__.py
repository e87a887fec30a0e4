"""Quadratic programs of any kind as plain arrays: from generators, files and other packages.

`generate` makes a reference program from its name, and `names` lists those of the suite.
"""

from indefinite_opt.problem.programs.arrays import (
    QuadraticArrays,
    program_of_qpsolvers,
    quadratic_arrays,
)
from indefinite_opt.problem.programs.cvxpy_problem import CvxpyProgram, program_of_cvxpy
from indefinite_opt.problem.programs.files import read_program, write_program
from indefinite_opt.problem.programs.graphs import (
    Graph,
    bomze,
    complete_multipartite,
    cycle_join,
    hamming,
    johnson,
    keller,
    lattice,
    motzkin_straus,
    paley,
    triangular,
    turan,
)
from indefinite_opt.problem.programs.library import generate, graph, names
from indefinite_opt.problem.programs.naming import UNNAMED, Names
from indefinite_opt.problem.programs.random_programs import (
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
from indefinite_opt.problem.programs.standard_form import StandardForm
