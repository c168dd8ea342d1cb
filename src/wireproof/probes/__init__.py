"""What is asked of every machine, as data, and the little parsing that ``check`` and ``doctor``
need.
"""
