"""Random attacks, each from a seed: `python -m tools.fuzz --help`."""
