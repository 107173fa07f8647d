"""Weights for headlight: adapters, head masks and a spaCy pipeline. headlight finds and checks the files."""
