"""Input screening, before anything else looks at a message (SAFE)."""

from yuzui.guard.blocks import Block, check_blocks
from yuzui.guard.injection import looks_injected
from yuzui.guard.screening import Screened, screen

__all__ = ["Block", "Screened", "check_blocks", "looks_injected", "screen"]
