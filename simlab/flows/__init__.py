"""flows: descent loops and solvers. A kind defines `Params` and a compiled stretch of descent."""
