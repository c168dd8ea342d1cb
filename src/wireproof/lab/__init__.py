"""The virtual cluster: nodes made of namespaces, networks with a known rate, planted faults.

Nothing of it is in the host's network namespace, and one process owns all of it: when that one dies
the kernel removes the rest.
"""
