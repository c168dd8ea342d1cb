"""The MPIs: how they are found and identified, and the command line of each launcher."""
