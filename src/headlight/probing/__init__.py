"""Asking a model about inputs with tokens taken away."""
