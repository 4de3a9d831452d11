"""Prose of sources: its lines, its placeholders and templates, and what a reader cannot see in it."""
