from typing import get_args

from compass.curation import noise
from compass.settings.denoise import NoiseFilter


def test_the_filters_that_settings_name_are_those_that_exist() -> None:
    assert list(get_args(NoiseFilter)) == [str(reason) for reason in noise.FILTERS]
