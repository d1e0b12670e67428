"""The figures and tables of the paper, one small module each."""
