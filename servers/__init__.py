"""Real servers for the tests, the benchmarks and the demo. Not part of the package."""
