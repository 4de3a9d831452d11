"""Values that look like secrets: they become `${NAME}`, and are neither copied nor shown.

A value too many that is taken for one costs its owner a variable to set; one too few would be committed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_NAMED = re.compile(
    r"token(?!s\b|iz)|secret|passw|passphrase|credential|api[-_]?key|access[-_]?key|private[-_]?key|[-_]key\b|^key$"
    r"|\bpat\b|_pat\b|^auth|authorization|bearer|cookie|session|signature|dsn|connection[-_]?string|webhook",
    re.IGNORECASE,
)
_SHAPED = re.compile(
    r"(?<![A-Za-z0-9])(?:(?:sk|pk|rk)[-_][A-Za-z0-9_-]{8,}|gh[opsur]_\w{16,}|github_pat_\w{16,}|glpat-[\w-]{12,}"
    r"|xox[a-z]-[\w-]{8,}|(?:AKIA|ASIA)[A-Z0-9]{12,}|AIza[\w-]{20,}|ey[A-Za-z0-9_-]{8,}\.[\w-]+\.[\w-]*|npm_\w{20,}"
    r"|hf_\w{16,}|lin_\w{16,})|-----BEGIN"
)
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_RANDOM = 20  # letters and digits in one run, both among them
_REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-[^}]*)?\}")
_USER_INFO = re.compile(r"(?<=://)[^/@\s]*:[^/@\s]*(?=@)")
_QUERY = re.compile(r"([?&#])([^=&#\s]+)=([^&#\s]+)")
_ASSIGNED = re.compile(r"(-{0,2}[A-Za-z_][\w.-]*)=(.+)", re.DOTALL)
_HEADER = re.compile(r"([A-Za-z][A-Za-z0-9-]*)(:[ \t]*)(?!//)(.+)", re.DOTALL)
_SCHEME = re.compile(r"(Bearer|Basic|Token)[ \t]+(.+)", re.IGNORECASE | re.DOTALL)
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class Replaced:
    """A value that was not copied: where it stands in its file, and the variable that stands for it now."""

    path: str
    server: str
    field: str
    variable: str


@dataclass(slots=True)
class Hider:
    """Replaces what looks like a secret in the values of one server, and notes what it replaced."""

    path: str
    server: str
    found: list[Replaced]

    def env(self, name: str, value: str) -> str:
        """A variable of the server's environment: its own name stands for its value, which works everywhere."""
        return self._hidden(f"env.{name}", name) if looks_secret(name, value) else _plain(value)

    def header(self, name: str, value: str, field: str = "") -> str:
        """A header: all of its value, or what stands behind the scheme."""
        scheme = _SCHEME.fullmatch(value)
        secret = scheme[2] if scheme else value
        if _referred(secret) or not (scheme or looks_secret(name, secret)):
            return _plain(value)
        hidden = self._hidden(field or f"headers.{name}", self._variable("TOKEN" if scheme else name))
        return f"{scheme[1]} {hidden}" if scheme else hidden

    def words(self, command: str, arguments: list[str]) -> tuple[str, ...]:
        """A command line: `--token=VALUE`, `--token VALUE`, `NAME=VALUE`, `Name: VALUE`, addresses, bare values."""
        result: list[str] = []
        before = ""
        for index, word in enumerate((command, *arguments)):
            result.append(self._word(f"args[{index - 1}]" if index else "command", before, word))
            before = word.lstrip("-") if word.startswith("-") and "=" not in word else ""
        return tuple(result)

    def url(self, value: str, field: str = "url") -> str:
        """An address without the password and the keys in it."""
        bare = _USER_INFO.sub(lambda match: self._unless_referred(match[0], field, "LOGIN"), value)
        return _plain(_QUERY.sub(lambda match: self._queried(match, field), bare))

    def _word(self, field: str, option: str, word: str) -> str:
        assigned = _ASSIGNED.fullmatch(word)
        if assigned and "://" not in assigned[1]:
            return f"{assigned[1]}={self._value(field, assigned[1].lstrip('-'), assigned[2])}"
        return word if word.startswith("-") else self._value(field, option, word)

    def _value(self, field: str, name: str, value: str) -> str:
        header = _HEADER.fullmatch(value)
        if _NAMED.search(name) and looks_secret(name, value):
            return self._hidden(field, self._variable(name))
        if "://" in value:
            return self.url(value, field)
        if header:
            return f"{header[1]}{header[2]}{self.header(header[1], header[3], field)}"
        return self._hidden(field, self._variable(name or "TOKEN")) if looks_secret(name, value) else _plain(value)

    def _queried(self, match: re.Match[str], field: str) -> str:
        secret = looks_secret(match[2], match[3])
        return f"{match[1]}{match[2]}={self._hidden(field, self._variable(match[2]))}" if secret else match[0]

    def _unless_referred(self, value: str, field: str, name: str) -> str:
        return (
            value if all(_referred(part) for part in value.split(":", 1)) else self._hidden(field, self._variable(name))
        )

    def _hidden(self, field: str, variable: str) -> str:
        self.found.append(Replaced(self.path, self.server, field, variable))
        return f"${{{variable}}}"

    def _variable(self, name: str) -> str:
        """A variable's name made of the server's and the value's."""
        words = re.sub(r"[^A-Za-z0-9]+", "_", f"{self.server}_{name}").strip("_").upper()
        return words if _VARIABLE.fullmatch(words) else f"MCP_{words}"


def looks_secret(name: str, value: str) -> bool:
    """Whether a value is one by the name it goes by or by its own looks; a reference to a variable is none."""
    if not value or _referred(value):
        return False
    return bool(_NAMED.search(name) or _SHAPED.search(value) or _USER_INFO.search(value) or _random(value))


def _random(value: str) -> bool:
    runs = re.split(r"[^A-Za-z0-9+=]+", value)
    mixed = (run for run in runs if re.search("[0-9]", run) and re.search("[A-Za-z]", run))
    return bool(_UUID.fullmatch(value)) or any(len(run) >= _RANDOM for run in mixed)


def _referred(value: str) -> bool:
    """Whether a value is nothing but references to variables."""
    return bool(value) and not _REFERENCE.sub("", value).strip()


def _plain(value: str) -> str:
    """References without their defaults, which a spec has no form for, and which may be secrets themselves."""
    return _REFERENCE.sub(lambda match: f"${{{match[1]}}}", value)
