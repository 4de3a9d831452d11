from agentmux.table import table
from agentmux_compiler.render.paint import PLAIN, Paint

ROWS = [("日本", "1", ""), ("a\x1b[31m", "1,234", "x")]


def test_columns_are_as_wide_as_their_widest_cell():
    assert table(("NAME", "SIZE", "REST"), ROWS, PLAIN, right={1}) == (
        "NAME        SIZE  REST\n"
        "日本           1\n"
        "a\\x1b[31m  1,234  x\n"
    )  # fmt: skip


def test_only_the_heads_are_painted():
    assert table(("A", "B"), [("1", "2")], Paint(color=True)) == "\x1b[1mA  B\x1b[0m\n1  2\n"
