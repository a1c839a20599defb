"""A metric for lighteval tasks: the share of samples whose final answer equals a gold.

LightevalTaskConfig(..., metrics=[math_accuracy()])
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from compass.integrations.golds import read_gold
from compass.verifier import Mode, judge

if TYPE_CHECKING:
    from lighteval.metrics.utils.metric_utils import SampleLevelMetric


def math_accuracy(name: str = "compass_accuracy") -> SampleLevelMetric:
    """The metric, under a name of your choice.

    A sample counts as 1 if the final answer of its first response equals one of its golds, as the verifier reads them
    leniently.
    """
    import numpy as np
    from lighteval.metrics.metrics_sample import SampleLevelComputation
    from lighteval.metrics.utils.metric_utils import SampleLevelMetric
    from lighteval.tasks.requests import SamplingMethod

    class Accuracy(SampleLevelComputation):
        """Whether the final answer of the first response equals a gold."""

        def compute(self, doc: Any, model_response: Any, **_: Any) -> float:
            response = model_response.final_text[0]
            golds = map(read_gold, doc.get_golds())
            return float(any(judge(gold=gold, response=response, mode=Mode.LENIENT).equal for gold in golds))

    return SampleLevelMetric(
        metric_name=name,
        higher_is_better=True,
        category=SamplingMethod.GENERATIVE,
        sample_level_fn=Accuracy(),
        corpus_level_fn=np.mean,
    )
