"""What communication costs at a scale that is not at hand: a LogGOPS-style simulation. Pure.

``topology`` says where ranks sit and which links they share; ``network`` has the parameters of the
machine, carries messages, and holds the collectives as patterns of messages. All ranks
advance together, as arrays: n ranks cost n log n per round of messages, because servers sort what
reaches them.
"""
