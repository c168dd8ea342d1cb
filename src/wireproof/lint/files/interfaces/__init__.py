"""What makes a network interface: ifcfg and keyfiles, host names."""
