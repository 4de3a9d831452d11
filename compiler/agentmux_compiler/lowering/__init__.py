"""What lowering is made of: deliveries, servers, skills, environment, outputs, and the prefix of a plan."""
