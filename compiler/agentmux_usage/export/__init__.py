"""What sessions used, handed on to systems of the user's own; only ever when asked, and never any text of a prompt."""
