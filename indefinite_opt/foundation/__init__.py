"""What every room uses and what knows no mathematics: arrays, names, files, threads, limits."""
