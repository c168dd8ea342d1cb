"""What the counters of a port say of priority flow control, by driver. Pure."""
