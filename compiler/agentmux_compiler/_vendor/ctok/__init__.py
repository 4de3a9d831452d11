"""Parts of ctok 1.3.0 (MIT, see LICENSE and VENDORED.md): token counts of Claude without the API."""
