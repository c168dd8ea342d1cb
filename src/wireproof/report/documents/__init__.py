"""Builders of documents: one for each verb, from its result."""
