"""`python -m indefinite_opt` is the command `indefinite-opt`."""

from indefinite_opt.command_line.app import main

if __name__ == "__main__":
    main()
