"""record: HDF5 segments (the unit of commit), the index over them, collating into results.h5, and reading it."""
