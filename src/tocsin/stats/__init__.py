"""What is measured while a model runs: accumulators that merge in a fixed order."""
