"""A launch from the plan to its end: what it pays, what it needs, who is asked, what is shown."""
