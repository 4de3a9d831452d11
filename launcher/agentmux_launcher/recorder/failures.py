"""How each vendor words its errors, by kind of failure: data.

Status, type and wording are those the vendors' public documentation and client libraries show in 2026-11.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Wording:
    """One vendor's form of a failure: `type` is Anthropic's and OpenAI's, `code` OpenAI's code or Gemini's status."""

    status: int
    message: str
    type: str = ""
    code: str | None = None


@dataclass(frozen=True, slots=True)
class Wordings:
    """A failure in the words of the three vendors; OpenAI's two wires share theirs. `{model}` is filled in."""

    anthropic: Wording
    openai: Wording
    gemini: Wording


FAILURES = {
    "unauthorized": Wordings(
        Wording(401, "invalid x-api-key", "authentication_error"),
        Wording(401, "Incorrect API key provided: sk-test.", "invalid_request_error", "invalid_api_key"),
        Wording(
            401,
            "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other "
            "valid authentication credential.",
            code="UNAUTHENTICATED",
        ),
    ),
    "forbidden": Wordings(
        Wording(403, "Your API key does not have permission to use the specified resource.", "permission_error"),
        Wording(403, "You do not have access to this project.", "invalid_request_error", "permission_denied"),
        Wording(403, "The caller does not have permission", code="PERMISSION_DENIED"),
    ),
    "not_found": Wordings(
        Wording(404, "model: {model}", "not_found_error"),
        Wording(
            404,
            "The model `{model}` does not exist or you do not have access to it.",
            "invalid_request_error",
            "model_not_found",
        ),
        Wording(404, "models/{model} is not found for API version v1beta.", code="NOT_FOUND"),
    ),
    "rate_limited": Wordings(
        Wording(
            429,
            "This request would exceed your organization's rate limit of 30,000 input tokens per minute.",
            "rate_limit_error",
        ),
        Wording(
            429,
            "Rate limit reached for {model} on tokens per min (TPM): Limit 30000, Used 30000, Requested 1200. "
            "Please try again in 1s.",
            "tokens",
            "rate_limit_exceeded",
        ),
        Wording(429, "Resource has been exhausted (e.g. check quota).", code="RESOURCE_EXHAUSTED"),
    ),
    "usage_limit": Wordings(
        Wording(
            400,
            "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or "
            "purchase credits.",
            "invalid_request_error",
        ),
        Wording(
            429,
            "You exceeded your current quota, please check your plan and billing details.",
            "insufficient_quota",
            "insufficient_quota",
        ),
        Wording(
            429,
            "You exceeded your current quota, please check your plan and billing details.",
            code="RESOURCE_EXHAUSTED",
        ),
    ),
    "server_error": Wordings(
        Wording(500, "Internal server error", "api_error"),
        Wording(
            500,
            "The server had an error while processing your request. Sorry about that!",
            "server_error",
            "server_error",
        ),
        Wording(500, "An internal error has occurred. Please retry.", code="INTERNAL"),
    ),
    "overloaded": Wordings(
        Wording(529, "Overloaded", "overloaded_error"),
        Wording(
            503,
            "The engine is currently overloaded, please try again later.",
            "service_unavailable_error",
            "server_is_overloaded",
        ),
        Wording(503, "The model is overloaded. Please try again later.", code="UNAVAILABLE"),
    ),
    "context_too_long": Wordings(
        Wording(400, "prompt is too long: 213462 tokens > 200000 maximum", "invalid_request_error"),
        Wording(
            400,
            "Your input exceeds the context window of this model. Please adjust your input and try again.",
            "invalid_request_error",
            "context_length_exceeded",
        ),
        Wording(
            400,
            "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
            code="INVALID_ARGUMENT",
        ),
    ),
}
