"""The web page and its JSON API; needs the extra `web`."""
