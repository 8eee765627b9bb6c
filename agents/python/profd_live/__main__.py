"""python -m profd_live [--packages A,-B] [--pure] SCRIPT [ARGS]    or    ... -m MODULE [ARGS]"""
import argparse
import importlib.util
import io
import os
import sys
import types

import profd_live


def main():
    parser = argparse.ArgumentParser(prog="python -m profd_live", description="Runs a program and tells profd what its functions do.")
    parser.add_argument("--packages", default="", help="modules by prefix, with commas between; a minus leaves one out")
    parser.add_argument("--pure", action="store_true", help="without the extension")
    parser.add_argument("-m", dest="module", action="store_true", help="SCRIPT names a module")
    parser.add_argument("script")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    given = parser.parse_args()
    if given.module:
        spec = importlib.util.find_spec(given.script)
        if spec is not None and spec.submodule_search_locations is not None:
            spec = importlib.util.find_spec(given.script + ".__main__")
        if spec is None or spec.origin is None:
            parser.error(f"there is no module {given.script}")
        path, package = spec.origin, spec.parent
    else:
        path, package, spec = given.script, None, None
        sys.path[0] = os.path.dirname(os.path.abspath(path))
    try:
        with io.open_code(os.path.abspath(path)) as file:
            code = compile(file.read(), path, "exec")
    except OSError as error:
        parser.error(f"{path}: {error.strerror}")
    sys.argv[:] = [path, *given.arguments]
    program = types.ModuleType("__main__")
    program.__dict__.update(__file__=path, __package__=package, __spec__=spec, __builtins__=__builtins__)
    sys.modules["__main__"] = program
    profd_live.start(program=given.script if given.module else os.path.basename(path), packages=given.packages, pure=given.pure)
    exec(code, program.__dict__)


if __name__ == "__main__":
    main()
