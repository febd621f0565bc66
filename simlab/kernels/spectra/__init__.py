"""Eigenvalues of kernels on the sphere and the Boolean cube, the singularities that set their decay, and its fit."""
