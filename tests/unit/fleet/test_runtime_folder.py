"""Sockets stand where nobody else can reach them, or put others in their place."""

from __future__ import annotations

import os
import stat

import pytest

from wayfare.fleet.errors import FleetSetupError
from wayfare.fleet.runtime_folder import make_private_folder


@pytest.fixture
def short(tmp_path_factory, request):
    """Give a folder of our own with a short name, as TMPDIR often is."""
    root = make_private_folder(["/tmp"])
    yield root
    for path in sorted(root.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
    root.rmdir()


def mode_of(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_the_folder_is_ours_alone(short):
    folder = make_private_folder([str(short)])
    assert mode_of(folder) == 0o700
    assert folder.stat().st_uid == os.geteuid()


def test_a_missing_or_unset_root_is_passed_over(short):
    folder = make_private_folder([None, "", str(short / "missing"), str(short)])
    assert folder.parent == short


def test_what_a_link_leads_to_is_judged_not_the_link(short):
    (short / "real").mkdir(mode=0o700)
    (short / "link").symlink_to("real")
    assert make_private_folder([str(short / "link")]).parent == short / "real"


@pytest.mark.parametrize("mode", [0o777, 0o770])
def test_a_folder_in_which_others_may_rename_things_is_refused(short, mode):
    (short / "open").mkdir()
    (short / "open").chmod(mode)
    with pytest.raises(FleetSetupError, match=f"others may rename .*mode 0{mode:o}.*XDG_RUNTIME"):
        make_private_folder([str(short / "open")])


def test_a_parent_in_which_others_may_rename_things_is_refused(short):
    (short / "open" / "inner").mkdir(parents=True)
    (short / "open").chmod(0o777)
    with pytest.raises(FleetSetupError, match="others may rename"):
        make_private_folder([str(short / "open" / "inner")])


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_the_folder_of_another_user_is_refused(short):
    (short / "theirs").mkdir()
    os.chown(short / "theirs", 12345, 12345)
    with pytest.raises(FleetSetupError, match=r"belongs to another user \(uid 12345\)"):
        make_private_folder([str(short / "theirs")])


def test_a_name_too_long_for_a_socket_is_refused(short):
    long = short / ("x" * 90)
    long.mkdir()
    with pytest.raises(FleetSetupError, match="too long for a Unix socket"):
        make_private_folder([str(long)])


def test_a_file_is_no_folder(short):
    (short / "file").touch()
    with pytest.raises(FleetSetupError, match="is no folder"):
        make_private_folder([str(short / "file")])
