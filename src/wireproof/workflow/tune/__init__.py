"""Changing settings of hosts, and whether that helps."""
