"""Judge PSM3's own counters: the path, losses, and settings that did not take effect. Pure."""
