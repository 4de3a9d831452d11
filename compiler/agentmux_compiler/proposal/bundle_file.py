"""A piece of text as the file of a bundle, such that a build gives back the very text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agentmux_compiler.segment import Text
from agentmux_compiler.text.placeholders import expand

if TYPE_CHECKING:
    from agentmux_compiler.proposal.bundling import NamedBundle, Piece

_FENCE = re.compile(r"---[ \t]*")
_DELIMITER = re.compile(r"\{[{%#]")


def bundle_file(folder: str, bundle: NamedBundle) -> tuple[str, bytes]:
    """Path and bytes. A text that uses a variable's spelling, or needs its leading empty lines, is a template.

    Plain Markdown would have the variable replaced, and empty lines behind front matter dropped.
    """
    piece = bundle.piece
    first = piece.text.partition("\n")[0]
    front = _front(piece, first)
    literal = _uses_variables(piece.text) or (bool(front) and not first.strip())
    body = _template(piece.text) if literal else piece.text
    return f"{folder}/{bundle.name}.md{'.j2' if literal else ''}", f"{front}{body}".encode()


def _front(piece: Piece, first: str) -> str:
    """Front matter: the providers, or none at all above a text that would be taken for it."""
    if piece.providers is not None:
        return f"---\nproviders: [{', '.join(piece.providers)}]\n---\n"
    return "---\n---\n" if _FENCE.fullmatch(first) else ""


def _uses_variables(text: str) -> bool:
    return bool(expand(Text(text, "", (1,)), {})[0].used)


def _template(text: str) -> str:
    """A template that renders as the text; its first line is never empty."""
    if "endraw" not in text:
        return f"{{% raw %}}{text[:-1]}{{% endraw %}}\n"
    escaped = _DELIMITER.sub(r'{{ "\g<0>" }}', text)
    return f'{{{{ "" }}}}{escaped}'
