"""The probes of the extension: sys.monitoring from Python 3.12 on, else the interpreter's profile function."""
import sys
import threading

from profd_live import _native
from profd_live.names import describe

_tool = None


def _thread_name():
    thread = threading._active.get(threading.get_ident())
    return thread.name if thread is not None else None


if hasattr(sys, "monitoring"):
    _monitoring = sys.monitoring
    _events = _monitoring.events
    _PROBES = ((_events.PY_START, _native.on_enter), (_events.PY_RESUME, _native.on_enter), (_events.PY_THROW, _native.on_throw),
               (_events.PY_RETURN, _native.on_leave), (_events.PY_YIELD, _native.on_leave), (_events.PY_UNWIND, _native.on_unwind))

    def _install():
        """Takes the profiler's place among the tools of the interpreter, or another that is free."""
        global _tool
        for tool in (_monitoring.PROFILER_ID, 4, 3):
            if _monitoring.get_tool(tool) is None:
                _monitoring.use_tool_id(tool, "profd-live")
                _tool = tool
                return True
        print("profd-live: other tools have taken all places of sys.monitoring", file=sys.stderr)
        return False

    def _turn(on):
        if _tool is None:
            return
        for event, probe in _PROBES:
            _monitoring.register_callback(_tool, event, probe if on else None)
        _monitoring.set_events(_tool, sum(event for event, _ in _PROBES) if on else 0)
        if on:
            _anew()

    def _anew():
        _monitoring.restart_events()

    def _uninstall():
        global _tool
        _turn(False)
        _monitoring.free_tool_id(_tool)
        _tool = None
else:
    def _first(frame, event, argument):
        """In a new thread, before its first call."""
        _native.profile(True, False)

    def _install():
        return True

    def _turn(on):
        threading.setprofile(_first if on else None)
        _native.profile(on, True)

    def _anew():
        """Nothing is switched off for good."""

    def _uninstall():
        _turn(False)


def _changed(what):
    if what & 3:
        _turn(not what & 2)
    if what & 4:
        _anew()


def start(target, token_file, program, packages):
    if not _install():
        return False
    if _native.start(target, token_file, program, packages, describe, _changed, _thread_name):
        return True
    _uninstall()
    return False


def stop(reason):
    _native.stop(reason)
    _uninstall()


def mark(text):
    _native.mark(text)
