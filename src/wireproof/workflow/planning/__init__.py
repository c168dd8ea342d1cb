"""Parts of ``workflow.plan`` that need measured runs or the design of checks."""
