"""What is read on every machine, as data, and the parsing that ``check`` and ``doctor`` need."""
