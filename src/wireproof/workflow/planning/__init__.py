"""What ``workflow.plan`` is made of where it needs measured runs and the design of checks."""
