"""The extension is built with the sources of the agent of C; without a compiler the agent is pure Python."""
import os

from setuptools import Extension, setup

C = os.path.join("..", "c") if os.path.isdir(os.path.join("..", "c")) else "csrc"
SHARED = [os.path.join(C, name + ".c") for name in ("core", "link", "methods", "send", "wire")]

setup(ext_modules=[Extension(
    "profd_live._native", ["profd_live/_native.c", *SHARED], include_dirs=[C], optional=True, libraries=["pthread"],
    define_macros=[("PROFD_LIVE_VERSION", '"0.1.0"')], extra_compile_args=["-std=gnu11", "-O2", "-fvisibility=hidden"])])
