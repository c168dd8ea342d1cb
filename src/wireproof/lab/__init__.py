"""The virtual cluster: nodes made of namespaces, networks with a known rate, injected faults.

No part of a lab is in the host's network namespace. A single process owns the lab: if that process
dies, the kernel removes the rest.
"""
