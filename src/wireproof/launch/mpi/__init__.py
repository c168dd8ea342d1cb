"""The MPIs: discovery, identification, and the command line of each launcher."""
