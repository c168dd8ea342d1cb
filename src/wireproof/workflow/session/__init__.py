"""One measurement: its launches, hosts that are lost, repeats, and the verdict."""
