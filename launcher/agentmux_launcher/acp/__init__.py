"""The client side of the Agent Client Protocol: what is said to an agent, and what is done for it."""
