"""Branch and bound for any quadratic program, with a proof of its bound.

To read it in the order in which data flow:

1. `finite_form` puts a program into a finite box with rows, and its points back.
2. `scaled_box` has the quadratic on a box, in variables d from -1 to 1, and the tangents of a
   convex one.
3. `minorant` makes the bound of a box from multipliers, rounding included. Their source need not be
   trusted: `lagrangian` (the dual, by an interior point method), `relaxation` (doubly
   nonnegative, by alternating directions), `secants` (linear programs of separable costs),
   `conic_relaxation` (solvers of cvxpy).
4. `optimality_conditions` shrinks boxes, and says how they are divided.
5. `proof` holds the tangents and divisions, and computes the bound from these alone.
6. `box_bound` bounds and divides one box, `tree` all of them, in threads or by the workers of
   `cluster`; `open_bracket` has both ends while they do; `search` begins and ends it all.
"""
