"""Talks Redfish to management controllers. What they answer is hostile input: bounded in size,
number and time, and never followed elsewhere.
"""
