"""What the edits of a range of commits have cost, and which order of the same text would have cost less."""
