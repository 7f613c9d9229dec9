"""YAML in which every node knows its place."""
