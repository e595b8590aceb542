"""What operators steer by: figures of today and of thirty days, how the parts are now, and what needs somebody."""

from synth.dashboard.alarms import Alarm, Condition, alarms
from synth.dashboard.figures import Figures, Requests, entries_of, figures
from synth.dashboard.sampling import samples, take_sample
from synth.dashboard.state import EngineQueue, State, state

__all__ = [
    "Alarm",
    "Condition",
    "EngineQueue",
    "Figures",
    "Requests",
    "State",
    "alarms",
    "entries_of",
    "figures",
    "samples",
    "state",
    "take_sample",
]
