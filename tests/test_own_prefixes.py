"""This repository's own agents: no prefix of theirs changes unless somebody accepts it."""


def test_no_prefix_of_our_own_agents_changed(prefix_snapshot):
    prefix_snapshot()
