"""Code of others, kept as it was but for what each folder's VENDORED.md says."""
