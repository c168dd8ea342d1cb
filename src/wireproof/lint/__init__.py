"""What is wrong in a recipe before it is run: job scripts, command lines, configuration files.
Pure.
"""
