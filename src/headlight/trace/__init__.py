"""One forward pass of the user's own network, and everything methods may ask of it."""
