"""What `agentmux usage` reads, asks and shows."""
