"""A run of our own, judged: ``judge`` is the story, the others are its steps. Pure."""
