"""What is wrong in a recipe before it is run: job scripts, command lines, configuration files.
Pure.

``check`` goes from a text to its findings, ``fix`` to the corrected text. ``kinds`` says what a
file is, by its path or its content; ``shell`` reads command lines, ``fragments`` the lines of
configuration files wherever they stand. The rules are data in ``rules``; the checks that find where
one is broken stand by what they look at: ``script`` (batch scripts, MPI launches, benchmarks),
``admin`` (the commands that set up a cluster) and ``files`` (configuration files).
"""
