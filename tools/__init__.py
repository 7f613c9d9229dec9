"""What the project is kept in order with: run by hand, none of it is installed."""
