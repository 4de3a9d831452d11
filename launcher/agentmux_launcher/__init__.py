"""Start a provider's CLI from a launch plan, and account for what it does."""
