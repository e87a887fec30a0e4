"""Data sets: of the papers, of scikit-learn, of files, and drawn at random."""
