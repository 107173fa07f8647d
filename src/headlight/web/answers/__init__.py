"""Answers questions: from a model and a question to the body of a reply, one file per panel of the page."""
