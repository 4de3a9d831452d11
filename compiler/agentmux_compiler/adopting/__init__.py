"""Carry text that people wrote by hand into the sources."""
