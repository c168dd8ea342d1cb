"""Where ranks run: which hosts, how each is reached, which of them respond, which link and
fabric.
"""
