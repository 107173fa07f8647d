"""One forward pass of the user's network, and everything a method may need from it."""
