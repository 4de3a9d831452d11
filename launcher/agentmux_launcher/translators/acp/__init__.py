"""The Agent Client Protocol as any of its agents speaks it: frames of both sides become events."""
