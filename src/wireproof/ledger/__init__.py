# pure
"""From records to numbers with intervals, and from counters to traffic. Pure; numpy only."""
