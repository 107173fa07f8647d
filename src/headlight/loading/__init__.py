"""From a name, a folder or a live network to a proved `Model`; the embedded models and their weights."""
