"""Drives that a library can't be kept on: SQLite's log and the locks need one of this machine."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from ibid.errors import LibraryError

MOUNTS: Final = Path("/proc/self/mounts")
"""What Linux has mounted where; other systems have no such file, and are not looked at."""

NETWORK: Final = re.compile(
    r"nfs4?|cifs|smb3?|smbfs|afs|ceph|glusterfs|lustre|gpfs|beegfs|davfs|ncpfs"
    r"|fuse\.(sshfs|glusterfs|ceph.*|rclone|s3fs|goofys|gcsfuse|davfs2?|smbnetfs)"
)
"""File systems of other machines, as the list of mounts names them."""


def refuse_network_drive(folder: Path, *, mounts: Path = MOUNTS) -> None:
    """Raise LibraryError for a folder on a drive of another machine.

    Two machines there would each have a log and locks of their own, and destroy the database.
    """
    kind = find_file_system(folder, mounts)
    if kind is not None and NETWORK.fullmatch(kind):
        raise LibraryError(
            f"{folder} lies on a network drive ({kind}), where a database does not survive two"
            " machines",
            hint="keep the library on a disk of this machine, its documents may stay on the drive;"
            " or set index.network_drive to true, if no other machine ever opens it",
        )


def find_file_system(folder: Path, mounts: Path) -> str | None:
    """The kind of file system that a folder lies on, or will; None where that can't be told."""
    try:
        lines = mounts.read_bytes().splitlines()
    except OSError:
        return None
    place = folder.expanduser().resolve()
    found, depth = None, -1
    for line in lines:
        _, mounted, kind, *_ = line.split(b" ")
        path = Path(_unescape(mounted))
        if place.is_relative_to(path) and len(path.parts) >= depth:
            found, depth = kind.decode(), len(path.parts)  # of two at one place the later counts
    return found


def _unescape(path: bytes) -> str:
    """A path without the escapes of its white space, such as `\\040`."""
    plain = re.sub(rb"\\([0-7]{3})", lambda found: bytes([int(found[1], 8)]), path)
    return plain.decode("utf-8", "surrogateescape")
