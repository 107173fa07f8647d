"""From a name, a folder or a live network to a checked `Model`; the embedded models and their weights."""
