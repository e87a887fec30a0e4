"""What solvers and certificates ask of a program."""
