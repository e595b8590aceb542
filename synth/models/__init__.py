"""The rows of the synth app, one model a file."""

from synth.models.engine_card import EngineCardRow
from synth.models.entry import Entry
from synth.models.job import Job
from synth.models.policy import Policy
from synth.models.rendering import Rendering, RenderingPart
from synth.models.synthesis import Synthesis

__all__ = ["EngineCardRow", "Entry", "Job", "Policy", "Rendering", "RenderingPart", "Synthesis"]
