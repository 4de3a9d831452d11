"""Prefixes of other states of the sources, and a cache of them."""
