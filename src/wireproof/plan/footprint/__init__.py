"""QPs and memory of a job, before it runs. Pure; every formula with its source and its range.

``modes`` has one entry for each transport: the parts that it is made of. ``peers`` says who talks
to whom, as far as that is known; ``add_up`` makes sums for a rank, a node and the job of both;
``observed`` compares with what was seen.
"""
