"""Cases on a Dask cluster."""
