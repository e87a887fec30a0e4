"""An optimization problem as the paper writes it, and as a solver reads it."""
