"""Libraries on drives of other machines are refused, with the reason; local ones are not."""

from __future__ import annotations

from pathlib import Path

import pytest

import ibid
from conftest import open_hashing
from ibid.index.embedded import drives

MOUNTS = """\
/dev/vda / ext4 rw,relatime 0 0
server:/export {root} nfs4 rw,vers=4.2 0 0
//server/share {root}/with\\040space cifs rw 0 0
tmpfs {root}/local tmpfs rw 0 0
ann@server: {root}/over fuse.sshfs rw 0 0
/dev/vdb {root}/over ext4 rw 0 0
pool {root}/pool fuse.mergerfs rw 0 0
"""


@pytest.fixture
def mounts(tmp_path: Path) -> Path:
    """A list of mounts below a folder that stands for a drive of another machine."""
    file = tmp_path / "mounts"
    file.write_text(MOUNTS.format(root=tmp_path / "drive"))
    return file


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("drive", "nfs4"),
        ("drive/library/deep", "nfs4"),
        ("drive/with space/library", "cifs"),
        ("drive/local/library", "tmpfs"),
        ("drive/over/library", "ext4"),
        ("drive/pool/library", "fuse.mergerfs"),
        ("driver", "ext4"),
    ],
)
def test_a_folder_is_on_the_nearest_and_latest_mount(
    tmp_path: Path, mounts: Path, path: str, kind: str
) -> None:
    assert drives.find_file_system(tmp_path / path, mounts) == kind
    if kind in ("nfs4", "cifs"):
        with pytest.raises(ibid.LibraryError, match=rf"{kind}.*index\.network_drive"):
            drives.refuse_network_drive(tmp_path / path, mounts=mounts)
    else:
        drives.refuse_network_drive(tmp_path / path, mounts=mounts)


def test_a_link_is_where_it_leads(tmp_path: Path, mounts: Path) -> None:
    (tmp_path / "drive").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "drive")
    assert drives.find_file_system(tmp_path / "link" / "library", mounts) == "nfs4"


def test_where_nothing_tells_nothing_is_refused(tmp_path: Path) -> None:
    drives.refuse_network_drive(tmp_path, mounts=tmp_path / "none")


def test_a_library_there_is_refused_before_it_is_made_unless_a_setting_says(
    tmp_path: Path, mounts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "drive" / "library"
    monkeypatch.setattr(drives.refuse_network_drive, "__kwdefaults__", {"mounts": mounts})
    with pytest.raises(ibid.LibraryError, match="network drive"):
        open_hashing(place)
    assert not place.exists()
    monkeypatch.setenv("IBID_INDEX_NETWORK_DRIVE", "true")
    with open_hashing(place) as library:
        library.ingest(ibid.Document("a", "The walrus sleeps."))
        assert library.verify() == []
