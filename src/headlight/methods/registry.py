"""`METHODS`: every explanation method by name."""

from headlight.registry import Registry

METHODS = Registry("method")
