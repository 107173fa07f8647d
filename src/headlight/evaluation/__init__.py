"""Evaluation: plan, jobs, a folder that can be left and taken up again, engines, results."""
