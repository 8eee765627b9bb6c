// Small programs that are put beside a recording, for runtimes whose own profiler loses what a person needs.
#pragma once

namespace profd {

// `python profile.py OUT (-m MODULE | -c CODE | SCRIPT) ARGS`: cProfile that ends as the program does. That
// of `python -m cProfile` ends with 0 whatever the program ended with.
inline constexpr const char* kPythonDriver = R"TEXT(import sys

out, argv = sys.argv[1], sys.argv[2:]
if sys.path and sys.path[0] == __file__.rpartition("/")[0]:
    del sys.path[0]


def prepare():
    import io
    import os
    import runpy
    import types
    if argv[0] == "-m":
        sys.path.insert(0, os.getcwd())
        sys.argv = argv[1:]
        scope = {"run_module": runpy.run_module, "name": argv[1]}
        return "run_module(name, run_name='__main__', alter_sys=True)", scope
    main = types.ModuleType("__main__")
    main.__dict__["__builtins__"] = __builtins__
    if argv[0] == "-c":
        sys.path.insert(0, "")
        sys.argv = ["-c"] + argv[2:]
        code = compile(argv[1], "<string>", "exec")
    else:
        sys.argv = argv
        sys.path.insert(0, os.path.dirname(os.path.realpath(argv[0])))
        main.__file__ = argv[0]
        with io.open(argv[0], "rb") as script:
            code = compile(script.read(), argv[0], "exec")
    sys.modules["__main__"] = main
    return code, main.__dict__


def record():
    import cProfile
    import os
    import signal
    code, scope = prepare()
    if signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
        signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    parent, profile = os.getpid(), cProfile.Profile()
    try:
        profile.runctx(code, scope, scope)
    finally:
        # A forked child that comes here has no profile of its own.
        if os.getpid() == parent:
            profile.dump_stats(out)


record()
)TEXT";

// node writes its profile when it ends by itself, and not when a signal ends it.
inline constexpr const char* kNodeDriver = R"TEXT('use strict';
for (const [name, number] of [['SIGINT', 2], ['SIGTERM', 15]]) {
  process.on(name, () => {
    if (process.listenerCount(name) === 1) process.exit(128 + number);
  });
}
)TEXT";

}  // namespace profd
