"""Find why a culprit is slow: rules over the facts, counters and clocks of a run."""
