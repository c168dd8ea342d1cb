"""Finds which node, port, link or switch is slow. Pure: takes samples and a fabric, returns
culprits with their confidence.
"""
