"""Links and switches: what explains slow samples between leaves when no node does."""
