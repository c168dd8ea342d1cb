"""What communication costs at a scale that is not at hand: a LogGOPS-style simulation. Pure.

``machine`` has the parameters, ``topology`` where ranks sit and which links they share, ``network``
carries messages, ``rings``, ``collectives`` and ``alltoall`` are patterns of messages. All ranks
advance together, as arrays: n ranks cost n log n per round of messages, because servers sort what
reaches them.
"""
