"""Values that look like secrets: they become `${NAME}`, and are neither copied nor shown."""

from __future__ import annotations

import re
from dataclasses import dataclass

_NAMED = re.compile(
    r"token|secret|passw|passphrase|credential|api[-_]?key|access[-_]?key|private[-_]?key|_key\b|^key$|\bpat\b|_pat\b"
    r"|^auth|authorization|cookie|session|signature|dsn|connection[-_]?string",
    re.IGNORECASE,
)
_SHAPED = re.compile(
    r"(?:sk|pk|rk)[-_][A-Za-z0-9_-]{8,}|gh[opsur]_\w{16,}|github_pat_\w{16,}|glpat-[\w-]{12,}|xox[a-z]-[\w-]{8,}"
    r"|(?:AKIA|ASIA)[A-Z0-9]{12,}|AIza[\w-]{20,}|ey[A-Za-z0-9_-]{8,}\.[\w-]+\.[\w-]*|npm_\w{20,}|hf_\w{16,}|lin_\w{16,}"
    r"|-----BEGIN"
)
_RANDOM = re.compile(r"(?=[^\s]*[0-9])(?=[^\s]*[A-Za-z])[A-Za-z0-9+/_=-]{32,}")
_REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-[^}]*)?\}")
_USER_INFO = re.compile(r"(?<=://)[^/@\s]+:[^/@\s]+(?=@)")
_QUERY = re.compile(r"([?&])([^=&#\s]+)=([^&#\s]+)")
_OPTION = re.compile(r"(--?[A-Za-z][\w-]*)=(.+)")
BEARER = re.compile(r"(Bearer|Basic|Token) +(.+)", re.IGNORECASE)
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
        return self._hidden(f"env.{name}", value, name) if self._secret(name, value) else _plain(value)

    def header(self, name: str, value: str) -> str:
        scheme = BEARER.fullmatch(value)
        secret = scheme[2] if scheme else value
        if not (self._secret(name, secret) or scheme) or _referred(secret):
            return _plain(value)
        variable = self._variable("TOKEN" if scheme else name)
        hidden = self._hidden(f"headers.{name}", secret, variable)
        return f"{scheme[1]} {hidden}" if scheme else hidden

    def arguments(self, values: list[str]) -> list[str]:
        """Arguments of a command: `--token=VALUE`, `--token VALUE`, or a value that is one by its looks."""
        result: list[str] = []
        before = ""
        for index, value in enumerate(values):
            option = _OPTION.fullmatch(value)
            name, text = (option[1], option[2]) if option else (before if before.startswith("-") else "", value)
            if not value.startswith("-") or option:
                text = self._argument(index, name, text)
            result.append(f"{option[1]}={text}" if option else text)
            before = value
        return result

    def url(self, value: str, field: str = "url") -> str:
        """An address without the password and the keys in it."""
        bare = _USER_INFO.sub(lambda match: self._hidden(field, match[0], self._variable("LOGIN")), value)
        return _plain(_QUERY.sub(lambda match: self._queried(match, field), bare))

    def _queried(self, match: re.Match[str], field: str) -> str:
        if not self._secret(match[2], match[3]):
            return match[0]
        return f"{match[1]}{match[2]}={self._hidden(field, match[3], self._variable(match[2]))}"

    def _argument(self, index: int, name: str, text: str) -> str:
        if self._secret(name.lstrip("-"), text):
            return self._hidden(f"args[{index}]", text, self._variable(name.lstrip("-") or "TOKEN"))
        return self.url(text, f"args[{index}]") if "://" in text else _plain(text)

    def _secret(self, name: str, value: str) -> bool:
        if not value or _referred(value):
            return False
        return bool(_NAMED.search(name) or _SHAPED.search(value) or _RANDOM.fullmatch(value))

    def _hidden(self, field: str, value: str, variable: str) -> str:
        if _referred(value):
            return _plain(value)
        self.found.append(Replaced(self.path, self.server, field, variable))
        return f"${{{variable}}}"

    def _variable(self, name: str) -> str:
        """A variable's name made of the server's and the value's."""
        words = re.sub(r"[^A-Za-z0-9]+", "_", f"{self.server}_{name}").strip("_").upper()
        return words if _VARIABLE.fullmatch(words) else f"MCP_{words}"


def _referred(value: str) -> bool:
    """Whether a value is nothing but references to variables."""
    return bool(value) and not _REFERENCE.sub("", value).strip()


def _plain(value: str) -> str:
    """References without their defaults, which a spec has no form for, and which may be secrets themselves."""
    return _REFERENCE.sub(lambda match: f"${{{match[1]}}}", value)
