"""`METHODS`: every explanation method by name."""

from headlight.registry.entries import Registry

METHODS = Registry("method")
