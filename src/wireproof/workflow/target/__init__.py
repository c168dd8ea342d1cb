"""Where ranks run: which hosts, how each is reached, who answers, which link and fabric."""
