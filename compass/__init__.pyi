from compass.library.curate import curate as curate
from compass.library.score import score as score
from compass.library.why import why as why
from compass.records import read_records as read_records
from compass.report.run import read_run as load_run
from compass.settings import load_settings as load_settings
from compass.verifier import Mode as Mode
from compass.verifier import extract_answer as extract_answer
from compass.verifier import judge as judge
from compass.verifier import verify as verify

__version__: str
__all__ = [
    "Mode",
    "curate",
    "extract_answer",
    "judge",
    "load_run",
    "load_settings",
    "read_records",
    "score",
    "verify",
    "why",
]
