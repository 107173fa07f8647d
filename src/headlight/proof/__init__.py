"""What is checked on a live network when it is wrapped; a network that fails is refused."""
