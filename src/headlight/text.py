"""`Text`: what people give to be explained, one text or a pair; a module of its own, free of torch."""

Text = str | tuple[str, str]
