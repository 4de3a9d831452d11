"""Sources with places: specs in YAML, front matter, bundles, skills, settings."""
