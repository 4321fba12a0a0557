"""Plants small bugs and tells which of them the tests see. `python -m scripts.mutants --package core --number 60`."""
