"""core: what every room stands on. Compilation, random streams, look-up of kinds, parameters, errors."""
