"""What a page says: of an op, of an expression."""
