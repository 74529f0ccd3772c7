"""Build the documentation's site as its reader gets it.

Knows nothing of what the pages say.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest
from tests.deadline import HANG_SECONDS

LOADED = re.compile(r'<(?:script|link|img|iframe)[^>]*(?:src|href)="((?:https?:)?//[^"]+)"')


@pytest.fixture(scope="module")
def site(repo_root, tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(
        command,
        cwd=repo_root,
        env=environment,
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS,
    )
    assert done.returncode == 0, done.stderr
    return folder


def test_the_site_builds_without_a_warning_and_has_every_page(site, repo_root):
    docs = repo_root / "docs"
    pages = {path.relative_to(docs).with_suffix(".html") for path in docs.rglob("*.md")}

    assert {page for page in pages if not (site / page).is_file()} == set()


def test_no_page_loads_anything_from_elsewhere(site):
    loaded = {
        f"{page.relative_to(site)}: {url}"
        for page in site.rglob("*.html")
        for url in LOADED.findall(page.read_text())
    }

    assert loaded == set()
