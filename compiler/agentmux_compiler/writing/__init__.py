"""The disk: whose bytes stand where, what a build writes, and what it remembers."""
