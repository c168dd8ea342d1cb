"""Questions to many hosts: which can be reached, which one is this, what its NIC is."""
