"""Turn wrong settings into the changes that fix them. Pure."""
