"""Every rule, in one table; the long text of each is `rules/CODE.md`. A number is never used twice."""

from __future__ import annotations

from agentmux_compiler.diagnostics import Rule, Severity

ERROR, WARNING, NOTE = Severity.ERROR, Severity.WARNING, Severity.NOTE

# 1xx: spec
INVALID_YAML = Rule("AMX101", "invalid-yaml", ERROR, "a source is not well-formed YAML")
UNKNOWN_FIELD = Rule("AMX102", "unknown-field", ERROR, "a field that no spec has")
WRONG_TYPE = Rule("AMX103", "wrong-type", ERROR, "a value of another type than its field takes")
DUPLICATE_KEY = Rule("AMX104", "duplicate-key", ERROR, "a key that stands twice in one mapping")
TAB_INDENT = Rule("AMX105", "tab-indent", ERROR, "a tab where YAML wants spaces")
NOT_UTF8 = Rule("AMX106", "not-utf8", ERROR, "a source that is not UTF-8")
EMPTY_SPEC = Rule("AMX107", "empty-spec", ERROR, "a spec without content")
MISSING_FIELD = Rule("AMX108", "missing-field", ERROR, "a field that the spec must have")
BYTE_ORDER_MARK = Rule("AMX109", "byte-order-mark", WARNING, "a source that begins with a byte order mark")
DUPLICATE_AGENT = Rule("AMX110", "duplicate-agent", ERROR, "two files that name one agent")
INVALID_NAME = Rule("AMX111", "invalid-name", ERROR, "a name that is no file stem agentmux accepts")
INVALID_VALUE = Rule("AMX112", "invalid-value", ERROR, "a value outside the ones its field takes")
CRLF_LINE_ENDS = Rule("AMX113", "crlf-line-ends", NOTE, "a source with CRLF line ends, read as LF")
INVALID_FRONT_MATTER = Rule("AMX114", "invalid-front-matter", ERROR, "front matter that cannot be read")
CONFLICT_MARKER = Rule("AMX115", "conflict-marker", ERROR, "a source that holds a merge conflict")

# 2xx: resolve
UNKNOWN_BUNDLE = Rule("AMX201", "unknown-bundle", ERROR, "a bundle that is not there")
UNKNOWN_SKILL = Rule("AMX202", "unknown-skill", ERROR, "a skill that is not there")
EXTENDS_CYCLE = Rule("AMX203", "extends-cycle", ERROR, "specs that extend each other in a circle")
UNKNOWN_BASE = Rule("AMX204", "unknown-base", ERROR, "an `extends` that names no spec")
UNKNOWN_PROVIDER = Rule("AMX205", "unknown-provider", ERROR, "a provider that agentmux does not know")
MISSING_SOURCE = Rule("AMX206", "missing-source", ERROR, "a file that a spec names and that is not there")
DUPLICATE_ENTRY = Rule("AMX207", "duplicate-entry", ERROR, "a bundle, skill or provider that is listed twice")
PATH_OUTSIDE_PROJECT = Rule("AMX208", "path-outside-project", ERROR, "a path that leaves the project")
INVALID_SKILL = Rule("AMX209", "invalid-skill", ERROR, "a SKILL.md that a provider's CLI would drop")
UNUSED_BUNDLE = Rule("AMX210", "unused-bundle", WARNING, "a bundle that no agent lists")
UNUSED_SKILL = Rule("AMX211", "unused-skill", WARNING, "a skill that no agent lists")
NOTHING_TO_INHERIT = Rule("AMX212", "nothing-to-inherit", ERROR, "a `...` in a list that inherits none")
DUPLICATE_BUNDLE = Rule("AMX213", "duplicate-bundle", ERROR, "two files that name one bundle")

# 3xx: assemble
UNDEFINED_VARIABLE = Rule("AMX301", "undefined-variable", ERROR, "a template variable that does not exist")
VOLATILE_IN_COMMITTED = Rule("AMX302", "volatile-in-committed", ERROR, "a value that changes daily in a committed file")
VOLATILE_IN_PREFIX = Rule("AMX303", "volatile-in-prefix", WARNING, "a value that changes daily before stable text")
TEMPLATE_ERROR = Rule("AMX304", "template-error", ERROR, "a template that cannot be rendered")
HIDDEN_UNICODE = Rule("AMX305", "hidden-unicode", ERROR, "invisible characters in a source")
PROVIDER_IN_SHARED_FILE = Rule(
    "AMX306", "provider-in-shared-file", ERROR, "text for one provider in a file that several read"
)

# 4xx: lower
UNSUPPORTED_CAPABILITY = Rule("AMX401", "unsupported-capability", ERROR, "something the provider's CLI cannot do")
OUTPUT_CONFLICT = Rule("AMX402", "output-conflict", ERROR, "two plans that want different bytes in one path")
INSTRUCTIONS_TOO_LONG = Rule("AMX403", "instructions-too-long", ERROR, "instructions that the CLI would cut")
UNSUPPORTED_VALUE = Rule("AMX404", "unsupported-value", ERROR, "a value that the provider's CLI refuses")
SHARED_SKILL = Rule("AMX405", "shared-skill", WARNING, "a skill that other agents in the same folder see too")
OWNED_FLAG = Rule("AMX406", "owned-flag", WARNING, "a flag in `flags` that a field of the spec owns")
SECRET_NOT_EXPRESSIBLE = Rule("AMX407", "secret-not-expressible", ERROR, "a variable the CLI cannot pass on by name")
STRIPPED_TEXT = Rule("AMX408", "stripped-text", WARNING, "text that the CLI removes before the model sees it")
FLAG_VOIDS_OPTION = Rule("AMX409", "flag-voids-option", WARNING, "a flag that makes one of ours void")
DROPPED_OPTION = Rule("AMX410", "dropped-option", WARNING, "an option that this provider does not have")
SKILL_TRUNCATED = Rule("AMX411", "skill-truncated", WARNING, "a skill description that the CLI cuts")
ALSO_READ = Rule("AMX412", "also-read", NOTE, "a file that the CLI also reads by itself")
UNASKED_SERVER = Rule("AMX414", "unasked-server", WARNING, "an MCP server whose tools run without asking")
SHARED_SERVER = Rule("AMX415", "shared-server", WARNING, "an MCP server that other agents in the same folder get too")
UNTRUSTED_SERVER = Rule(
    "AMX417", "untrusted-server", WARNING, "an MCP server that the CLI starts only in a folder it trusts"
)
UNTRUSTED_SKILL = Rule("AMX418", "untrusted-skill", WARNING, "a skill that the CLI lists only in a folder it trusts")
OPT_OUT_NOT_PASSED = Rule("AMX419", "opt-out-not-passed", WARNING, "an opt-out that no launch can pass to the CLI")
UNSEEN_IMPORT = Rule("AMX420", "unseen-import", WARNING, "a file that the CLI puts into a text unseen")
DOUBLED_TEXT = Rule("AMX416", "doubled-text", NOTE, "text that reaches the model twice")

# 5xx: prefix
PREFIX_BROKEN = Rule("AMX501", "prefix-broken", NOTE, "text that was edited, inserted or removed")
SEGMENT_REORDERED = Rule("AMX502", "segment-reordered", WARNING, "segments in another order")
CACHE_KEY_CHANGED = Rule("AMX503", "cache-key-changed", WARNING, "a model or effort that keys the cache")
INVISIBLE_CHANGE = Rule("AMX504", "invisible-change", WARNING, "a change of nothing but white space")
VOLATILE_SEGMENT = Rule("AMX505", "volatile-segment", WARNING, "a segment that changes by itself")
SEGMENT_RENAMED = Rule("AMX506", "segment-renamed", NOTE, "a segment under another name, its text unchanged")
REQUEST_CHANGED = Rule("AMX507", "request-changed", WARNING, "tools, permission, delivery or environment changed")
CLI_VERSION_CHANGED = Rule("AMX508", "cli-version-changed", WARNING, "another version of the provider's CLI")
UNREADABLE_BASELINE = Rule("AMX509", "unreadable-baseline", ERROR, "a snapshot that cannot be read")
PAID_ANEW = Rule("AMX510", "paid-anew", NOTE, "instructions that no new session is served from the cache")
SKILL_SWITCHES_MODEL = Rule("AMX511", "skill-switches-model", WARNING, "a skill that sets a model or effort of its own")
PROMPT_IN_PREFIX = Rule("AMX512", "prompt-in-prefix", WARNING, "text in front that another first prompt changes")
SHORT_LIFETIME = Rule("AMX513", "short-lifetime", NOTE, "a cache that forgets sooner than the CLI could ask for")
SUB_AGENT_STALLS = Rule("AMX514", "sub-agent-stalls", NOTE, "sub-agents that share one local engine with their parent")
TOOLS_TAKEN_AWAY = Rule("AMX515", "tools-taken-away", NOTE, "arguments that change the tools at the head of the prompt")
BELOW_MINIMUM = Rule("AMX516", "below-minimum", WARNING, "a prefix too short to be cached at all")
UNCOMMITTED_OUTPUT = Rule("AMX517", "uncommitted-output", NOTE, "a new output that git status shows to the model")
KNOWN_BAD_VERSION = Rule("AMX518", "known-bad-version", WARNING, "a version of a CLI that is known to lose the cache")
UNWAITED_SERVER = Rule("AMX519", "unwaited-server", NOTE, "MCP servers that the first request does not wait for")
BROKEN_BASE = Rule("AMX520", "broken-base", ERROR, "a revision or folder to compare with that does not compile")
UNREADABLE_REQUEST = Rule("AMX530", "unreadable-request", ERROR, "a file that holds no recorded model request")
DIFFERENT_WIRES = Rule("AMX531", "different-wires", ERROR, "two requests of different wires")
PARAMETER_CHANGED = Rule("AMX532", "parameter-changed", NOTE, "a request parameter that is not part of the prompt")

# 6xx: emit
FOREIGN_FILE = Rule("AMX601", "foreign-file", ERROR, "a hand-written file where an output should go")
EDITED_OUTPUT = Rule("AMX602", "edited-output", ERROR, "an output that somebody edited by hand")
UNREADABLE_MANIFEST = Rule("AMX603", "unreadable-manifest", ERROR, "a manifest that cannot be read")
STALE_OUTPUT = Rule("AMX604", "stale-output", ERROR, "an output that a build would change")
STALE_SNAPSHOT = Rule("AMX605", "stale-snapshot", ERROR, "a snapshot that is not what a build would give")
OUTPUT_BEHIND_LINK = Rule("AMX606", "output-behind-link", ERROR, "an output path that is or goes through a symlink")
NOT_WRITABLE = Rule("AMX607", "not-writable", ERROR, "an output that cannot be written")
NOT_PLACED = Rule("AMX608", "not-placed", ERROR, "a hand edit that belongs to no source line")
NOT_ADOPTABLE = Rule("AMX609", "not-adoptable", ERROR, "a file that cannot become a source")
SOURCE_CHANGED = Rule("AMX610", "source-changed", ERROR, "an edited output whose sources changed since it was built")

RULES = {rule.code: rule for rule in list(globals().values()) if isinstance(rule, Rule)}
