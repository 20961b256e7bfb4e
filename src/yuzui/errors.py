"""Every error of the platform: one base, a stable code, a docstring that is the message.

Two kinds. A `YuzuiError` is for the caller: it maps to an RFC 9457 problem (`code`, `status`). A `ToolError` is for the
model: a tool raises it, the gateway turns it into an observation and the run goes on.
"""

from typing import ClassVar


class YuzuiError(Exception):
    """Something went wrong."""

    code: ClassVar[str] = "internal"
    status: ClassVar[int] = 500
    retryable: ClassVar[bool] = False

    def __init__(self, detail: str | None = None, *, retry_after: float | None = None) -> None:
        self.title = (type(self).__doc__ or "Error.").strip().splitlines()[0]
        self.detail = detail or self.title
        self.retry_after = retry_after
        super().__init__(self.detail)


class DeclarationError(YuzuiError):
    """The app's declaration is not acceptable."""

    code = "bad_declaration"


class SettingsError(YuzuiError):
    """The configuration is not acceptable."""

    code = "bad_settings"


class NotFoundError(YuzuiError):
    """There is no such object, or it is somebody else's."""

    code = "not_found"
    status = 404


class UnauthorizedError(YuzuiError):
    """The request carries no valid credentials."""

    code = "unauthorized"
    status = 401


class ForbiddenError(YuzuiError):
    """The caller's roles do not allow this."""

    code = "forbidden"
    status = 403


class InvalidInputError(YuzuiError):
    """The request is not valid."""

    code = "invalid_request"
    status = 422


class EmptyMessageError(InvalidInputError):
    """The message is empty."""

    code = "empty_message"


class MessageTooLongError(InvalidInputError):
    """The message is too long."""

    code = "message_too_long"
    status = 413


class BadEncodingError(InvalidInputError):
    """The request is not valid UTF-8 text without NUL characters."""

    code = "bad_encoding"
    status = 400


class BadJsonError(InvalidInputError):
    """The request body is not the expected JSON."""

    code = "bad_json"
    status = 400


class UnknownAppError(NotFoundError):
    """There is no such app."""

    code = "unknown_app"


class ConflictError(YuzuiError):
    """The object is not in a state that allows this."""

    code = "conflict"
    status = 409


class IdempotencyMismatchError(ConflictError):
    """The Idempotency-Key was used before with another body."""

    code = "idempotency_mismatch"


class ActionExpiredError(ConflictError):
    """The pending action has expired; nothing was executed."""

    code = "action_expired"


class ActionSettledError(ConflictError):
    """The pending action was settled before."""

    code = "action_settled"


class TooManyRunsError(YuzuiError):
    """Too many runs are waiting or running."""

    code = "too_many_runs"
    status = 429
    retryable = True


class DatabaseUnavailableError(YuzuiError):
    """The database cannot be reached right now."""

    code = "database_unavailable"
    status = 503
    retryable = True


class ShuttingDownError(YuzuiError):
    """The server is shutting down."""

    code = "shutting_down"
    status = 503
    retryable = True


class FencedOutError(YuzuiError):
    """This attempt no longer owns the run; another worker took it over or it was settled."""

    code = "fenced_out"
    status = 409


class DeadlineExceededError(YuzuiError):
    """The run's deadline passed."""

    code = "deadline_exceeded"
    status = 504


class RequiredToolMissingError(YuzuiError):
    """A tool that this intent requires is not available."""

    code = "required_tool_missing"
    status = 503
    retryable = True


class PostconditionError(YuzuiError):
    """The result lacks what this intent promises."""

    code = "postcondition_unmet"


class CapabilityMissingError(YuzuiError):
    """The policy does not hold this capability."""

    code = "not_permitted"
    status = 403


class ModelError(YuzuiError):
    """The model could not answer."""

    code = "model_failed"
    status = 502


class ModelUnavailableError(ModelError):
    """The model is not reachable or is overloaded."""

    code = "model_unavailable"
    status = 503
    retryable = True


class ModelOverflowError(ModelError):
    """The request does not fit the model's context window."""

    code = "context_overflow"
    status = 413


class ModelRefusedError(ModelError):
    """The model's provider refused the request."""

    code = "model_refused"


class ModelStreamCutError(ModelError):
    """The model's stream ended before it was finished."""

    code = "model_stream_cut"
    retryable = True


class ToolError(Exception):
    """A tool's message to the model: what went wrong and what to do instead.

    `transient` says that the same call may succeed later (network, lock); the fence then allows a bounded retry.
    """

    def __init__(self, message: str, *, transient: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.transient = transient
