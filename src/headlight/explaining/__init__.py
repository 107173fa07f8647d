"""From a caller's inputs to attributions: inputs, plan, batches, long texts, and the public functions."""
