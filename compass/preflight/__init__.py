"""What can be known before the pipeline starts: every fault of parameters, files, models and this machine, in under a second.

    compass.preflight.problems(root)  -> a list, empty where nothing is wrong
    compass.preflight.check(root)     -> one UserError that lists them all

DVC removes a stage's outputs before it runs the stage, so that a fault which only the stage meets costs what the last run
made. Stages keep their own checks: what needs minutes, a network or a loaded model is theirs alone.
"""

from compass.preflight.check import check, problems
from compass.preflight.problem import Problem

__all__ = ["Problem", "check", "problems"]
