"""The system account that PostgreSQL runs under: it refuses to run as root."""

import os
import pwd
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict


class SpawnOptions(TypedDict, total=False):
    """Keywords of `subprocess.Popen` that make a child run under an account."""

    user: int
    group: int
    extra_groups: Sequence[int]


@dataclass(frozen=True, kw_only=True, slots=True)
class Account:
    """Another user than the one who runs this process; only root can have one."""

    uid: int
    gid: int

    def may_enter(self, folder: Path) -> bool:
        """Whether the account can reach what is in `folder`: every folder on the way lets it pass."""
        real = folder.resolve()
        return all(self._has_x(place.stat()) for place in (real, *real.parents))

    def _has_x(self, place: os.stat_result) -> bool:
        if place.st_uid == self.uid:
            return bool(place.st_mode & stat.S_IXUSR)
        if place.st_gid == self.gid:
            return bool(place.st_mode & stat.S_IXGRP)
        return bool(place.st_mode & stat.S_IXOTH)


def account_for(cluster: Path) -> Account | None:
    """Who shall run PostgreSQL: this very user (None), or, for root, the owner of an existing cluster, or else `nobody`."""
    if os.geteuid() != 0:
        return None
    if cluster.exists():
        owner = cluster.stat()
        if owner.st_uid != 0:
            return Account(uid=owner.st_uid, gid=owner.st_gid)
    try:
        nobody = pwd.getpwnam("nobody")
    except KeyError:
        return Account(uid=65534, gid=65534)
    return Account(uid=nobody.pw_uid, gid=nobody.pw_gid)


def spawn_options(account: Account | None) -> SpawnOptions:
    """The keywords for `subprocess`; none when the child is to run as this user."""
    if account is None:
        return {}
    return {"user": account.uid, "group": account.gid, "extra_groups": []}


def give(account: Account | None, root: Path) -> None:
    """Make the account own a tree, without following links. A copy that root restored from a backup belongs to root."""
    if account is None:
        return
    os.chown(root, account.uid, account.gid, follow_symlinks=False)
    for folder, folders, files in os.walk(root):
        for name in (*folders, *files):
            os.chown(os.path.join(folder, name), account.uid, account.gid, follow_symlinks=False)
