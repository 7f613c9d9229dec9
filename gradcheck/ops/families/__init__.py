"""The declarations, a file per family of ops."""
