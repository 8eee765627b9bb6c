#!/usr/bin/env python3
"""Builds the agent of Java: one JAR for Java 8 and newer, with ASM inside under a name of its own.

usage: build.py OUT.jar [ASM.jar]     ASM is taken from Maven's repository where it is not given, and fetched by mvn into it
"""
from __future__ import annotations

import os
import shutil
import struct
import subprocess
import sys
import tempfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
ASM = "9.11.1"
FROM, TO = b"org/objectweb/asm/", b"dev/profd/live/asm/"
MANIFEST = """Manifest-Version: 1.0
Premain-Class: dev.profd.live.Agent
Agent-Class: dev.profd.live.Agent
Launcher-Agent-Class: dev.profd.live.Agent
Can-Redefine-Classes: false
Can-Retransform-Classes: true
Implementation-Title: profd-live-java
Implementation-Version: 0.1.0
"""
# Bytes of a constant behind its tag; 1 is a text with its length.
SIZES = {3: 4, 4: 4, 5: 8, 6: 8, 7: 2, 8: 2, 9: 4, 10: 4, 11: 4, 12: 4, 15: 3, 16: 2, 17: 4, 18: 4, 19: 2, 20: 2}


def moved(data: bytes) -> bytes:
    """A class file in which names of ASM are ours. Code names classes by the numbers of constants, so only texts change."""
    count = struct.unpack(">H", data[8:10])[0]
    out, at, n = bytearray(data[:10]), 10, 1
    while n < count:
        tag = data[at]
        if tag == 1:
            length = struct.unpack(">H", data[at + 1:at + 3])[0]
            text = data[at + 3:at + 3 + length].replace(FROM, TO)
            out += b"\x01" + struct.pack(">H", len(text)) + text
            at += 3 + length
        else:
            out += data[at:at + 1 + SIZES[tag]]
            at += 1 + SIZES[tag]
        n += 2 if tag in (5, 6) else 1
    return bytes(out + data[at:])


def asm_jar() -> str:
    jar = os.path.expanduser(f"~/.m2/repository/org/ow2/asm/asm/{ASM}/asm-{ASM}.jar")
    if not os.path.exists(jar) and shutil.which("mvn"):
        subprocess.run(["mvn", "-q", "-B", "dependency:get", f"-Dartifact=org.ow2.asm:asm:{ASM}"], timeout=120, check=False,
                       stdout=subprocess.DEVNULL)
    if not os.path.exists(jar):
        sys.exit(f"build.py: no ASM {ASM}: give its JAR, or install Maven")
    return jar


def main() -> int:
    out, asm = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else asm_jar()
    with tempfile.TemporaryDirectory() as box:
        folder = os.path.join(HERE, "src", "dev", "profd", "live")
        sources = sorted(os.path.join(folder, name) for name in os.listdir(folder))
        subprocess.run(["javac", "--release", "8", "-Xlint:all,-options,-serial", "-Werror", "-cp", asm, "-d", box, *sources], check=True)
        files = {}
        for name in sorted(os.listdir(os.path.join(box, "dev", "profd", "live"))):
            with open(os.path.join(box, "dev", "profd", "live", name), "rb") as file:
                files["dev/profd/live/" + name] = moved(file.read())
        with zipfile.ZipFile(asm) as archive:
            for name in sorted(archive.namelist()):
                if name.startswith(FROM.decode()) and name.endswith(".class"):
                    files[name.replace(FROM.decode(), TO.decode())] = moved(archive.read(name))
        with open(os.path.join(HERE, "ASM-LICENSE.txt"), "rb") as file:
            files["META-INF/ASM-LICENSE.txt"] = file.read()
        # The same bytes whenever it is built.
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as jar:
            for name, data in [("META-INF/MANIFEST.MF", MANIFEST.encode()), *files.items()]:
                jar.writestr(zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED)
    return 0


if __name__ == "__main__":
    sys.exit(main())
