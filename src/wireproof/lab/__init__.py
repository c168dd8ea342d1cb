"""The virtual cluster: nodes made of namespaces, networks with a known rate, injected faults.

Nothing of a lab is in the host's network namespace. A single process owns it: if that process dies,
the kernel removes the rest.
"""
