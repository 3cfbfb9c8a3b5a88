"""A folder as a source: what is listed, what is skipped and why, and what is unknown."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from pathlib import Path

import pytest

from ibid.errors import InputError
from ibid.sources.folder import FolderSource


def write_files(folder: Path, *names: str, text: str = "text\n") -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def list_skips(folder: Path) -> dict[str, str | None]:
    return {file.path: file.skip for file in FolderSource(folder).scan()}


def list_paths(folder: Path) -> list[str]:
    return [file.path for file in FolderSource(folder).scan() if file.skip is None]


def test_files_come_in_the_order_of_their_whole_paths(tmp_path: Path) -> None:
    write_files(tmp_path, "b.md", "a/z.md", "a.md", "a-b/c.md", "a/b/c.md", "é.md", "Z.md")
    paths = list_paths(tmp_path)
    assert paths == ["Z.md", "a-b/c.md", "a.md", "a/b/c.md", "a/z.md", "b.md", "é.md"]
    assert paths == sorted(paths)


def test_a_file_comes_with_its_size_time_and_inode(tmp_path: Path) -> None:
    write_files(tmp_path, "a.md", text="four")
    (file,) = FolderSource(tmp_path).scan()
    found = (tmp_path / "a.md").stat()
    assert (file.stat.size, file.stat.modified_ns, file.stat.inode) == (
        4,
        found.st_mtime_ns,
        found.st_ino,
    )


def test_the_location_is_a_uri(tmp_path: Path) -> None:
    folder = tmp_path / "two words é"
    folder.mkdir()
    assert FolderSource(folder).location == f"file://{tmp_path}/two%20words%20%C3%A9"


def test_hidden_and_empty_files_are_skipped_and_a_hidden_folder_is_one_entry(
    tmp_path: Path,
) -> None:
    write_files(tmp_path, ".hidden.md", ".git/a", ".git/b/c", "sub/.x", "a.md")
    write_files(tmp_path, "empty.md", text="")
    assert list_skips(tmp_path) == {
        ".git/": "hidden",
        ".hidden.md": "hidden",
        "a.md": None,
        "empty.md": "empty",
        "sub/.x": "hidden",
    }


def test_the_files_that_say_how_to_sync_are_no_documents(tmp_path: Path) -> None:
    write_files(tmp_path, ".ibidignore", "sub/.ibidignore", "ibid.toml", "a.md", text="# none\n")
    write_files(tmp_path, "sub/ibid.toml")
    assert list_skips(tmp_path) == {
        "a.md": None,
        "sub/ibid.toml": "rules are read at the top of the folder only",
    }


def test_no_link_is_followed(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    write_files(folder, "a.md", "sub/b.md")
    write_files(tmp_path, "outside.md", "folder-too/c.md")
    links = {
        "inside.md": "a.md",
        "sub/up.md": "../a.md",
        "out.md": "../outside.md",
        "absolute.md": str(tmp_path / "outside.md"),
        "like.md": "../folder-too/c.md",
        "away": "..",
        "loop": ".",
        "broken.md": "nothing.md",
        "self.md": "self.md",
        "through.md": "a.md/x",
    }
    for name, target in links.items():
        (folder / name).symlink_to(target)
    skips = list_skips(folder)
    assert {path for path, reason in skips.items() if reason is None} == {"a.md", "sub/b.md"}
    assert set(skips) == {"a.md", "sub/b.md", *links}
    assert {skips[path] for path in links} == {"a link; what it leads to is read where it lies"}


def test_a_library_inside_the_folder_is_no_part_of_it(tmp_path: Path) -> None:
    write_files(tmp_path, "a.md", "handbook/library.db", "handbook/notes.md")
    assert list_skips(tmp_path) == {"a.md": None, "handbook/": "a library of ibid"}


def test_a_source_may_itself_be_reached_by_a_link(tmp_path: Path) -> None:
    write_files(tmp_path / "real", "a.md", "b.md")
    (tmp_path / "link").symlink_to("real")
    assert list_paths(tmp_path / "link") == ["a.md", "b.md"]
    assert FolderSource(tmp_path / "link").location == FolderSource(tmp_path / "real").location


def test_pipes_and_sockets_are_not_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    monkeypatch.chdir(tmp_path)  # a socket's path may have about 100 characters
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket.md")
        assert list_skips(tmp_path) == dict.fromkeys(["pipe.md", "socket.md"], "not a regular file")


def test_names_that_cannot_be_printed_are_skipped_in_a_form_that_can(tmp_path: Path) -> None:
    names = [b"caf\xe9.md", b"two\nlines.md", "next\u2028.md".encode(), "fine ✓\u200d.md".encode()]
    try:
        for name in names:
            (tmp_path / os.fsdecode(name)).write_text("text")
    except OSError:
        pytest.skip("this file system takes only names in UTF-8")
    (tmp_path / os.fsdecode(b"sub\xff")).mkdir()
    assert {path: bool(skip) for path, skip in list_skips(tmp_path).items()} == {
        "caf\\xe9.md": True,
        "fine ✓\u200d.md": False,
        "next\\u2028.md": True,
        "sub\\xff/": True,
        "two\\nlines.md": True,
    }


def test_names_keep_their_normal_form(tmp_path: Path) -> None:
    decomposed = "cafe\u0301.md"
    write_files(tmp_path, decomposed)
    assert list_paths(tmp_path) == [os.listdir(tmp_path)[0]]


def test_very_deep_folders_need_no_deep_stack(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    depth = 1_200
    monkeypatch.chdir(tmp_path)
    for _ in range(depth):
        os.mkdir("d")
        os.chdir("d")
    write_files(Path("."), "a.md")
    found = list_paths(tmp_path)
    os.remove("a.md")
    for _ in range(depth):  # what removes temporary files later does need a deep stack
        os.chdir("..")
        os.rmdir("d")
    assert found == ["d/" * depth + "a.md"]


def test_a_folder_that_is_missing_or_a_file_is_named(tmp_path: Path) -> None:
    write_files(tmp_path, "a.md")
    with pytest.raises(InputError, match=r"gone doesn't exist"):
        FolderSource(tmp_path / "gone")
    with pytest.raises(InputError, match=r"a\.md isn't a folder"):
        FolderSource(tmp_path / "a.md")
    source = FolderSource(tmp_path)
    shutil.rmtree(tmp_path)
    with pytest.raises(InputError, match="can't be listed"):
        list(source.scan())


def refuse(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Refuse to list a folder, as the system does to all but its root user."""
    scandir = os.scandir

    def scan(path: Path) -> object:
        if Path(path) == folder:
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", scan)


def test_an_unreadable_folder_is_not_an_empty_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_files(tmp_path, "a.md", "closed/b.md", "open/c.md")
    refuse(monkeypatch, tmp_path / "closed")
    source = FolderSource(tmp_path)
    assert [file.path for file in source.scan()] == ["a.md", "open/c.md"]
    assert source.unreadable == {"closed/": "Permission denied"}
    monkeypatch.undo()
    assert len(list(source.scan())) == 3
    assert source.unreadable == {}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read anything")
def test_a_folder_without_permission_is_unreadable(tmp_path: Path) -> None:
    write_files(tmp_path, "closed/b.md")
    (tmp_path / "closed").chmod(0)
    source = FolderSource(tmp_path)
    assert list(source.scan()) == []
    assert source.unreadable == {"closed/": "Permission denied"}
    (tmp_path / "closed").chmod(0o700)


def test_a_source_that_cannot_be_listed_at_all_stops(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refuse(monkeypatch, tmp_path)
    with pytest.raises(InputError, match="Permission denied"):
        list(FolderSource(tmp_path).scan())


def test_a_broken_ignore_file_hides_its_folder_and_not_the_rest(tmp_path: Path) -> None:
    write_files(tmp_path, "a.md", "sub/secret.md", "pipe/secret.md")
    (tmp_path / "sub" / ".ibidignore").write_bytes(b"secr\xe9t.md\n")
    os.mkfifo(tmp_path / "pipe" / ".ibidignore")
    source = FolderSource(tmp_path)
    assert [file.path for file in source.scan()] == ["a.md"]
    assert source.unreadable["pipe/"] == "its .ibidignore can't be used: it isn't a regular file"
    assert "sub/" in source.unreadable
    (tmp_path / ".ibidignore").write_text("[z-a]\n")
    with pytest.raises(InputError, match=r"\.ibidignore can't be used"):
        list(source.scan())


# -- .ibidignore

TREE = (
    "a.md",
    "build/out.md",
    "build/sub/deep.md",
    "keep/a.tmp",
    "keep/b.md",
    "keep/build/c.md",
    "notes.txt",
    "sub/a.tmp",
    "sub/important.tmp",
    "sub/build",
    "sub/x/y/z.md",
    "top/kept.md",
    "top/lost.md",
    "top/in/a.md",
    "with#hash.md",
    "with!bang.md",
    "trailing/a.md",
    "deep/a/b/c/d.md",
)

IGNORE_FILES = [
    {"": "*.tmp\n"},
    {"": "*.tmp\n!important.tmp\n"},
    {"": "build/\n"},
    {"": "build\n"},
    {"": "/build\n"},
    {"": "build/*\n!build/out.md\n"},
    {"": "top/**\n!top/kept.md\n"},
    {"": "top/*\n!top/in/\n"},
    {"": "build/\n!build/out.md\n"},
    {"": "deep/**/d.md\n**/y\n"},
    {"": "# a comment\n\n\\#x\nwith\\#hash.md\r\n\\!x\nwith!bang.md\n"},
    {"": "*\n!*/\n!*.md\n"},
    {"": "*\n!*/\n!z.md\n!build/\n"},
    {"": "top/**/\n!kept.md\n"},
    {"": "deep/**\n!deep/**/\n!d.md\n"},
    {"": "sub/x\nsub\\\\x\n"},
    {"": "trailing/ \n[an]*.m?\n"},
    {"": "*.tmp\n", "sub/": "!a.tmp\n"},
    {"": "!*.md\n", "top/": "*.md\n/in\n", "top/in/": "!a.md\n"},
    {"sub/": "/build\nx/y\n", "keep/": "*.tmp\nbuild/c.md\n"},
]


@pytest.mark.parametrize("ignore_files", IGNORE_FILES)
@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_ignore_files_mean_what_they_mean_to_git(
    tmp_path: Path, ignore_files: dict[str, str]
) -> None:
    write_files(tmp_path, *TREE)
    for folder, lines in ignore_files.items():
        (tmp_path / folder / ".ibidignore").write_text(lines)
        (tmp_path / folder / ".gitignore").write_text(lines)
    git = ["git", "-C", str(tmp_path), "-c", "core.quotePath=false"]
    subprocess.run([*git, "init", "--quiet"], check=True)
    listed = subprocess.run(
        [*git, "ls-files", "--others", "--exclude-per-directory=.gitignore"],
        check=True,
        capture_output=True,
        text=True,
    )
    wanted = {name for name in listed.stdout.splitlines() if not Path(name).name.startswith(".")}
    assert set(list_paths(tmp_path)) == wanted


def test_an_ignored_folder_is_one_entry(tmp_path: Path) -> None:
    write_files(tmp_path, "a.md", "build/x.md", "build/sub/y.md", "sub/b.log")
    (tmp_path / ".ibidignore").write_text("build/\n")
    write_files(tmp_path, "sub/.ibidignore", text="*.log\n")
    assert list_skips(tmp_path) == {
        "a.md": None,
        "build/": "ignored by .ibidignore",
        "sub/b.log": "ignored by .ibidignore",
    }
