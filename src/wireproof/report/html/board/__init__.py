"""The pages of a local web page over a history."""
