"""From a name, a folder or a live network to a checked `Model`; the models that come with headlight."""
