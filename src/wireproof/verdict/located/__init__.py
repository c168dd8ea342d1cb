"""Turn located culprits into findings of their run. Pure."""
