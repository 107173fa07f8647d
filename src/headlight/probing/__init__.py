"""Asking a model about inputs with tokens removed."""
