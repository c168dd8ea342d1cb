"""Predict communication at a larger scale than available: a LogGOPS-style simulation. Pure.

``topology`` says where ranks sit and which links they share. ``network`` has the parameters of the
machine, delivers messages, and builds collectives from messages. All ranks advance together, as
arrays: n ranks cost n log n per round of messages, because servers sort their arrivals.
"""
