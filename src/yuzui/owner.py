"""Who is asking, and what that person may see."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal, TypeAlias
from zoneinfo import ZoneInfo

Locale: TypeAlias = Literal["zh", "en"]


class Role(StrEnum):
    """What a caller may do beyond their own data (R-AUTH-01)."""

    USER = "user"
    APPROVER = "approver"
    ADMIN = "admin"


@dataclass(frozen=True, kw_only=True, slots=True)
class Owner:
    """The scope of data a caller may see: one tenant (family, team), one user in it. Compared exactly, never by prefix."""

    tenant: str
    user: str

    def __post_init__(self) -> None:
        if not self.tenant or not self.user:
            raise ValueError("an owner has a tenant and a user")


@dataclass(frozen=True, kw_only=True, slots=True)
class Caller:
    """An authenticated person. It comes from the credentials alone; no request body or model output can change it."""

    owner: Owner
    name: str
    roles: frozenset[Role] = field(default_factory=lambda: frozenset({Role.USER}))
    locale: Locale = "zh"
    timezone: str = "Asia/Shanghai"

    @property
    def tz(self) -> ZoneInfo:
        """Time zone in which the caller reads times (R-API-03)."""
        return ZoneInfo(self.timezone)
