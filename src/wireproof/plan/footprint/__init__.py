"""QPs and memory of a job, before it runs. Pure; every formula has its source and range.

``modes`` has one entry per transport, with its parts. ``peers`` says who communicates with whom, as
far as that is known. ``add_up`` multiplies both into sums for a rank, a node and the job.
``observed`` compares with a real run.
"""
