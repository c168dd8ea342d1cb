"""Studies of a library's settings: catalogue of knobs, design, read-back and conclusions. Pure."""
