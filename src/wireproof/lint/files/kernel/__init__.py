"""What the kernel is given: its command line, module options, sysctl settings."""
