"""The keys of a spec: read, checked, expanded into Cases; and their schema."""
