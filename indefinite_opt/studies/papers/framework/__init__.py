"""How a study of a paper is declared, found, run, compared with the paper, and shown."""
