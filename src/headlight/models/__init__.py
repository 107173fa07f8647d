"""What headlight knows about networks: their parts by family, their task, their limits."""
