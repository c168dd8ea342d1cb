"""Another project's benchmark: the right command for it, run with its proof and judged."""
