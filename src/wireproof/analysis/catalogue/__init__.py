"""Which counters an adapter has and what each of them counts: data, a source for every row."""
