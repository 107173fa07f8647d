"""What is found out about a live network when it is wrapped, and refused if it does not hold."""
