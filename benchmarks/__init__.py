"""How fast, against what: `make bench` writes benchmarks/RESULTS.md."""
