"""What commands show to people, one module for each kind."""
