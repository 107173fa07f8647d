"""Evaluation: plan, jobs, a folder that can be left and taken up again, engines, results."""

MANIFEST = "manifest.json"
"""The file that makes a folder the folder of a run."""
