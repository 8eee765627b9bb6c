#!/usr/bin/env python3
"""clients/jetbrains/profd, the template for LSP4IJ, on the library that LSP4IJ is built on: lsp4j, in a JVM.

usage: jetbrains_test.py PROFD      Skipped where there is no JDK 17, or where the library is not to be had.
"""
import contextlib
import glob
import os
import re
import shutil
import subprocess
import sys
import unittest

from driven import HERE, ROOT, Home, not_run

LSP4J = "0.24.0"
TEMPLATE = os.path.join(ROOT, "clients/jetbrains/profd")


def library():
    """The JARs of lsp4j and of what it needs, from Maven's own repository; None where they are not to be had."""
    here = os.path.expanduser("~/.m2/repository")
    wanted = f"{here}/org/eclipse/lsp4j/org.eclipse.lsp4j/{LSP4J}/*.jar", f"{here}/org/eclipse/lsp4j/org.eclipse.lsp4j.jsonrpc/{LSP4J}/*.jar"

    def jars():
        return [found[0] for found in (glob.glob(pattern) for pattern in (*wanted, f"{here}/com/google/code/gson/gson/*/*.jar")) if found]

    if len(jars()) < 3 and shutil.which("mvn"):
        with contextlib.suppress(subprocess.TimeoutExpired):
            subprocess.run(["mvn", "-q", "-B", "dependency:get", f"-Dartifact=org.eclipse.lsp4j:org.eclipse.lsp4j:{LSP4J}"], timeout=120,
                           check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return jars() if len(jars()) == 3 else None


def java():
    found = shutil.which("java") if shutil.which("javac") else None
    if not found:
        return None
    said = subprocess.run([found, "-version"], capture_output=True, text=True, check=False).stderr
    version = re.search(r'"(\d+)', said)
    return found if version and int(version[1]) >= 17 else None


class JetBrains(Home):
    def setUp(self):
        self.java, self.jars = java(), library()
        if not self.java:
            not_run("no JDK 17 or newer")
        if not self.jars:
            not_run(f"lsp4j {LSP4J} is neither in ~/.m2 nor to be had with Maven")
        super().setUp()

    def test_the_template_serves_a_client_of_lsp4j(self):
        client = os.path.join(HERE, "jetbrains", "Lsp4jClient.java")
        result = subprocess.run([self.java, "-Xshare:auto", "-XX:TieredStopAtLevel=1", "-cp", os.pathsep.join(self.jars), client, TEMPLATE,
                                 self.project], env=self.environment, capture_output=True, text=True, timeout=180, check=False)
        print(result.stdout, end="", flush=True)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
