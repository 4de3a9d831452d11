"""The request prefix of a plan: its layout, its tokens, and what a change does to it."""
