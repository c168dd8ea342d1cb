"""Any program under an MPI: recipes of the known benchmarks, and the command that starts them."""
