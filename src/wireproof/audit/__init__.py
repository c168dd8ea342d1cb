"""Settings of a machine held against a catalogue: what is set, what should be, why, how sure."""
