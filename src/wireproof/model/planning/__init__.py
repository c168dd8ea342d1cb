"""What ``wireproof plan`` prints, one document for each of its subcommands."""
