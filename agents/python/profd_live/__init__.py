"""Live profiles of Python programs: what functions do goes to profd as it happens.

`python -m profd_live script.py` runs a program under it; `start()` begins in a program that runs. Where to is what
PROFD_LIVE says: unix:PATH, tcp:127.0.0.1:PORT with the token file of PROFD_LIVE_TOKEN_FILE, or file:PATH.
"""
import atexit
import os
import sys

_implementation = None


def start(target=None, token_file=None, program=None, packages="", pure=False):
    """Begins. False when there is nothing to do: no target, or one that is none (a line on stderr says so), or it has begun.

    packages: prefixes of modules with commas between, a minus before one leaves it out. pure: not the extension, even where
    it is there.
    """
    global _implementation
    target = target or os.environ.get("PROFD_LIVE")
    if not target or _implementation is not None:
        return False
    token_file = token_file or os.environ.get("PROFD_LIVE_TOKEN_FILE")
    program = program or os.path.basename(sys.argv[0] or "python")
    if pure or os.environ.get("PROFD_LIVE_PURE"):
        from profd_live import pure as implementation
    else:
        try:
            from profd_live import native as implementation
        except ImportError:
            from profd_live import pure as implementation
    if not implementation.start(target, token_file, program, packages):
        return False
    _implementation = implementation
    atexit.register(stop, "exit")
    return True


def stop(reason="stop"):
    """Ends the session in order, waiting at most a second for what is unsent; `start` may begin another."""
    global _implementation
    if _implementation is not None:
        implementation, _implementation = _implementation, None
        implementation.stop(reason)


def mark(text):
    """A mark on the time line, at most 1,024 bytes."""
    if _implementation is not None:
        _implementation.mark(text)
