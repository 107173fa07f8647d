"""`METHODS`: every explanation method by name."""

from headlight.registry.entries import Functions

METHODS = Functions("method")
