"""No agent's prompt prefix changes unless somebody accepts it: `pytest --snapshot-update`."""


def test_no_prefix_changed(prefix_snapshot):
    prefix_snapshot()
