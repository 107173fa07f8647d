"""Sending relevance, or DeepLIFT's multipliers, back through a pass by rules."""
