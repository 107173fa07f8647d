"""`RENDERERS`: every format by name; a renderer is a function (attributions) -> str."""

from headlight.registry.entries import Functions

RENDERERS = Functions("renderer")
