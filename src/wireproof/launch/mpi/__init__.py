"""The MPIs: found, identified, and the command line of each launcher."""
