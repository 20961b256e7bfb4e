"""Structured logs on standard error: readable lines at a terminal, JSON lines for machines."""

import logging
import sys
from typing import Any

import structlog

from yuzui.settings import Settings
from yuzui.tools.redact import redact_text


def configure_logs(settings: Settings) -> None:
    """Set up logging for this process; secrets are masked in every value (R-SAFE-03)."""
    level = logging.getLevelNamesMapping()[settings.log_level.upper()]
    render: Any = (
        structlog.processors.JSONRenderer(ensure_ascii=False)
        if settings.log_format == "json"
        else structlog.dev.ConsoleRenderer(
            colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback
        )
    )
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,  # text without local variables (they hold messages), so it is masked too
            _masked,
            render,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
    logging.basicConfig(
        level=max(level, logging.WARNING), stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s"
    )


def _masked(_: Any, __: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
    for name, value in event.items():
        if isinstance(value, str):
            event[name] = redact_text(value)
    return event
