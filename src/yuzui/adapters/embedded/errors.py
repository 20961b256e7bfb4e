"""What can be wrong with a data directory. Each message says what to do."""

from yuzui.errors import YuzuiError


class DataDirInUseError(YuzuiError):
    """Another server uses this data directory."""

    code = "data_dir_in_use"


class DataDirUnusableError(YuzuiError):
    """The data directory cannot be used as it is."""

    code = "data_dir_unusable"


class EmbeddedStartError(YuzuiError):
    """The embedded PostgreSQL did not start."""

    code = "embedded_postgres_failed"
    status = 503
