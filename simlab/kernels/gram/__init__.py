"""Gram matrices: assembled in memory (`assembly`), or larger than memory in a file (`store`), checked by `stored`."""
