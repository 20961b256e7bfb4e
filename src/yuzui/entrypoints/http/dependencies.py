"""What FastAPI routes ask for: the caller, the services, a page."""

from dataclasses import dataclass
from typing import Annotated, TypeAlias, cast

from fastapi import Depends, Query, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import BaseModel, ConfigDict

from yuzui.entrypoints.auth import caller_of
from yuzui.entrypoints.services import Services
from yuzui.owner import Caller

_bearer = HTTPBearer(auto_error=False, description="A dev token, or an API key.")


class Body(BaseModel):
    """Base of every request body: unknown fields are refused (422)."""

    model_config = ConfigDict(extra="forbid", frozen=True)


@dataclass(frozen=True, kw_only=True, slots=True)
class PageAsked:
    """A page: at most `limit` items after the cursor `after`."""

    limit: int
    after: str | None


def current_services(request: Request) -> Services:
    """The services of the application that answers."""
    return cast("Services", request.app.state.services)


async def current_caller(
    request: Request, _: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)]
) -> Caller:
    """The authenticated caller; the edge has asked already, so this only looks it up."""
    return await caller_of(current_services(request).authenticator, request.scope)


def asked_page(
    request: Request,
    limit: Annotated[int | None, Query(ge=1, description="Items a page")] = None,
    after: Annotated[str | None, Query(max_length=200, description="The `next` of the page before")] = None,
) -> PageAsked:
    """`limit` (bounded by the settings) and `after`."""
    limits = current_services(request).limits
    return PageAsked(limit=min(limit or limits.page, limits.max_page), after=after)


CurrentServices: TypeAlias = Annotated[Services, Depends(current_services)]
CurrentCaller: TypeAlias = Annotated[Caller, Depends(current_caller)]
AskedPage: TypeAlias = Annotated[PageAsked, Depends(asked_page)]
