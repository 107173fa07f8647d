"""From what a caller gives to attributions: inputs, plan, batches, long texts, and the verbs on top."""
