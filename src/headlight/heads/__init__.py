"""What attention heads do: dependency parses, head statistics, head masks."""
