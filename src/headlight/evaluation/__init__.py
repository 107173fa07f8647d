"""Evaluation: plan, jobs, a folder that a stopped run can be resumed from, engines, results."""

MANIFEST = "manifest.json"
"""The file that marks a folder as a run."""
