"""The sweep over all nodes: what each port reaches among others, and who is suspected."""
