"""Cases are what tests work on; the tests inside of one belong to it."""

collect_ignore = ["example-repository"]
