"""Fetches the peers through their own package managers into one folder; what cannot be had is left out."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Peers:
    """Commands to be followed by a file; an absent peer has a reason instead."""

    commands: dict[str, list[str]] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)


def _run(argv: list[str], **env: str) -> str:
    """Output of a command, or an empty string when it fails."""
    done = subprocess.run(argv, capture_output=True, text=True, env={**os.environ, **env})
    return done.stdout if done.returncode == 0 else ""


def _install_pprof(folder: Path, peers: Peers) -> None:
    if not shutil.which("go"):
        peers.absent["pprof"] = peers.absent["go tool pprof"] = "no Go here"
        return
    binary = folder / "bin" / "pprof"
    if not binary.exists():
        _run(["go", "install", "github.com/google/pprof@latest"], GOBIN=str(binary.parent))
    if binary.exists():
        peers.commands["pprof"] = [str(binary)]
        module = [line.split() for line in _run(["go", "version", "-m", str(binary)]).splitlines() if "\tmod\t" in line]
        peers.versions["pprof"] = module[0][2] if module else "unknown"
    else:
        peers.absent["pprof"] = "the Go module proxy was not reached"
    peers.commands["go tool pprof"] = ["go", "tool", "pprof"]
    peers.versions["go tool pprof"] = _run(["go", "env", "GOVERSION"]).strip()


def _install_speedscope(folder: Path, peers: Peers) -> None:
    if not (shutil.which("npm") and shutil.which("node")):
        peers.absent["speedscope"] = "no node and npm here"
        return
    package = folder / "npm" / "node_modules" / "speedscope"
    if not package.exists():
        _run(["npm", "install", "--prefix", str(folder / "npm"), "--no-audit", "--no-fund", "speedscope"])
    bundles = sorted((package / "dist" / "release").glob("speedscope-*.js"))
    if not bundles:
        peers.absent["speedscope"] = "npm did not deliver it"
        return
    loader = Path(__file__).with_name("speedscope.mjs")
    peers.commands["speedscope"] = ["node", "--max-old-space-size=16000", str(loader), str(bundles[0])]
    peers.versions["speedscope"] = json.loads((package / "package.json").read_text())["version"]


def _install_inferno(folder: Path, peers: Peers) -> None:
    names = ("inferno-collapse-perf", "inferno-flamegraph")
    binaries = folder / "cargo" / "bin"
    if not (binaries / names[0]).exists() and shutil.which("cargo"):
        _run(["cargo", "install", "--quiet", "inferno", "--root", str(folder / "cargo")])
    for name in names:
        if (binaries / name).exists():
            peers.commands[name] = [str(binaries / name)]
            found = re.search(r'"inferno (\S+) ', (folder / "cargo" / ".crates.toml").read_text())
            peers.versions["inferno"] = found[1] if found else "unknown"
        else:
            peers.absent[name] = "cargo did not deliver it" if shutil.which("cargo") else "no cargo here"


def _install_addr2line(folder: Path, peers: Peers) -> None:
    """gimli's; GNU addr2line and llvm-symbolizer are the system's."""
    binary = folder / "cargo-addr2line" / "bin" / "addr2line"
    if not binary.exists() and shutil.which("cargo"):
        _run(["cargo", "install", "--quiet", "addr2line", "--features", "bin", "--version", "^0.27", "--root", str(binary.parent.parent)])
    if binary.exists():
        peers.commands["addr2line-rs"] = [str(binary)]
        found = re.search(r'"addr2line (\S+) ', (binary.parent.parent / ".crates.toml").read_text())
        peers.versions["addr2line-rs"] = found[1] if found else "unknown"
    else:
        peers.absent["addr2line-rs"] = "cargo did not deliver it" if shutil.which("cargo") else "no cargo here"


def install(folder: Path) -> Peers:
    peers = Peers()
    folder.mkdir(parents=True, exist_ok=True)
    _install_pprof(folder, peers)
    _install_speedscope(folder, peers)
    _install_inferno(folder, peers)
    _install_addr2line(folder, peers)
    for script in ("flamegraph.pl", "stackcollapse-perf.pl"):
        if found := shutil.which(script):
            peers.commands[script] = [found]
        else:
            peers.absent[script] = "not on the PATH"
    return peers
