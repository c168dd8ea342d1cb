# pure
"""Find mistakes in a recipe before it is run: job scripts, command lines, configuration files.
Pure.

``check`` finds the mistakes in a text, ``fix`` corrects the text. ``kinds`` detects what a file is,
by its path or its content; ``shell`` reads command lines, ``fragments`` reads lines of
configuration files wherever they occur. The rules are data in ``rules``. The checks are grouped by
what they read: ``script`` (batch scripts, MPI launches, benchmarks), ``admin`` (commands that set
up a cluster) and ``files`` (configuration files).
"""
