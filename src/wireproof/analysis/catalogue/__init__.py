"""Which counters an adapter has and what each of them counts: data, a source for every row."""

from wireproof.analysis.catalogue.find import family_of
from wireproof.analysis.catalogue.read import families
from wireproof.analysis.catalogue.row import Family, Row

__all__ = ["Family", "Row", "families", "family_of"]
