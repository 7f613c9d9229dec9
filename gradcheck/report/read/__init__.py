"""Reports read back: merged and compared."""
