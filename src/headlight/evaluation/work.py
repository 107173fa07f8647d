"""What one job does, wherever it runs: examples in, records out."""

from collections.abc import Callable, Mapping, Sequence

import torch

from headlight.data.example import Example
from headlight.evaluation.attribute import explain_shard
from headlight.evaluation.measure import measure_shard, time_shard
from headlight.evaluation.plan import Job
from headlight.evaluation.records import AttributionRecord, Record
from headlight.evaluation.settings import Settings
from headlight.models.model import Model


def work(
    job: Job,
    settings: Settings,
    models: Callable[[str], Model],
    examples: Mapping[int, Example],
    attributions: Sequence[AttributionRecord],
) -> Sequence[Record]:
    """The records of any job."""
    torch.set_num_threads(settings.threads)
    if job.kind == "explain":
        return explain_shard(job.methods, job.roles, settings, models, examples)
    model = models(settings.model)
    if job.kind == "measure":
        return measure_shard(job.methods, job.metrics, model, examples, attributions)
    return time_shard(job.methods, job.metrics, settings, model, examples)
