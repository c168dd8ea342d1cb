"""The sweep over all nodes: what each port reaches among others, and which nodes are suspects."""
