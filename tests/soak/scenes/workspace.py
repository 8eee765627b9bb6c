"""Workspaces for editors, and real profiles for everybody."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from house import House
from inputs import GO_DEMO, ROOT
from stage import Stage

NO_PROFILES = {".golden", ".md", ".sh", ".py", ".go", ".mod"}
N_FILES, N_LINES = 40, 1500


def copy_of_go_demo(folder: Path) -> Path:
    shutil.copytree(GO_DEMO, folder)
    return folder


def sources(root: Path) -> list[Path]:
    return [path for path in sorted(root.rglob("*")) if path.suffix in (".go", ".c", ".cc", ".cpp", ".h", ".rs", ".py", ".js")]


def add_sources(house: House, folder: Path, profile: Path) -> Path:
    """Source files that are called as the hottest lines of the profile say."""
    folder.mkdir()
    client = house.client(name="sources")
    client.request("profile/open", {"uri": profile.as_uri(), "options": {"attach": False, "makeDefault": False}})
    page = client.request("view/table", {"spec": "flat by line", "limit": 1000}).result or {"files": []}
    for name in page["files"][:N_FILES]:
        path = folder / name.lstrip("/")
        if ".." in path.parts:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\tx = x + 1 // a line of it\n" * N_LINES)
    client.close()
    return folder


def fixtures() -> list[Path]:
    found = [path for folder in sorted((ROOT / "formats").glob("*/testdata")) for path in sorted(folder.rglob("*"))]
    profiles = [path for path in found if path.is_file() and path.suffix not in NO_PROFILES]
    return profiles + [GO_DEMO / "cpu.pprof", GO_DEMO / "heap.pprof"]


def corpus(largest: int) -> list[Path]:
    """Real profiles up to that size, where there are any."""
    named = os.environ.get("PROFD_CORPUS")
    around = [Path(named)] if named else [parent / "shared" / "corpus" for parent in ROOT.parents]
    folder = next((path for path in around if path.is_dir()), None)
    if folder is None:
        return []
    real = (path for path in sorted(folder.rglob("*")) if path.is_file() and path.suffix not in NO_PROFILES)
    return [path for path in real if path.stat().st_size <= largest]


def small_profiles(stage: Stage, n: int) -> list[Path]:
    """Some that open, of many formats."""
    rng = stage.rng("small profiles")
    found = [path for path in fixtures() + corpus(1 << 20) if path.stat().st_size > 200]
    rng.shuffle(found)
    chosen: list[Path] = []
    with stage.house() as house:
        client = house.client(name="chooser")
        for path in found:
            if len(chosen) == n:
                break
            if client.request("profile/open", {"uri": path.as_uri()}, 30).error is None:
                chosen.append(path)
    return chosen
