"""The agent without its extension, from Python 3.12 on: probes by sys.monitoring, in every thread. A probe that is off is none: the
interpreter leaves it out."""
import sys
import threading

from profd_live.pure import _OTHER, Agent, Lane, _now

_monitoring = sys.monitoring if hasattr(sys, "monitoring") else None


class _Silent:
    """In place of a lane: of threads of which nothing is told."""
    limit = -2


_SILENT = (lambda part: None), (), _Silent()


class MonitoredAgent(Agent):
    """ValueError where another profiler has the place."""

    def __init__(self, *given):
        super().__init__(*given)
        self.tool, self.has_tool = _monitoring.PROFILER_ID, False
        _monitoring.use_tool_id(self.tool, "profd-live")
        self.has_tool = True
        events = _monitoring.events
        enter, leave, throw, unwind = self.probes()
        self.events = 0
        for event, probe in ((events.PY_START, enter), (events.PY_RESUME, enter), (events.PY_THROW, throw), (events.PY_RETURN, leave),
                             (events.PY_YIELD, leave), (events.PY_UNWIND, unwind)):
            _monitoring.register_callback(self.tool, event, probe)
            self.events |= event

    def probes(self):
        known, agent, disable = self.ids.get, self, _monitoring.DISABLE
        here, frame_of = self.local, sys._getframe  # pylint: disable=protected-access

        # What is looked up each time is local: defaults are.
        def enter(code, _, id=id, known=known, here=here, now=_now, len=len):
            told = known(id(code))
            if not told:
                if told is not None:
                    return disable
                agent.id_of(code, frame_of(1).f_globals)
                return enter(code, _)
            try:
                append, words, lane = here.lane
            except AttributeError:
                append, words, lane = agent.lane_here(frame_of(1), "call")
            if len(words) >= lane.limit:
                agent.full(lane, frame_of(1), "call")
                return None
            append(now())
            append(told)
            return None

        def leave(code, _, value, id=id, known=known, here=here, now=_now, len=len):
            told = known(id(code))
            if not told:
                # Of what was never seen to begin the end is not told either.
                return None if told is None else disable
            try:
                append, words, lane = here.lane
            except AttributeError:
                append, words, lane = agent.lane_here(frame_of(1), "return")
            if len(words) >= lane.limit:
                agent.full(lane, frame_of(1), "return")
                return None
            append(now())
            append(None)
            return None

        # Those cannot be left out.
        def throw(code, at, _):
            if known(id(code)) != b"":
                enter(code, at)

        def unwind(code, at, _):
            if known(id(code)):
                leave(code, at, None)

        return enter, leave, throw, unwind

    def lane_here(self, at, event):
        """The lane of this thread, in which nothing is told yet: what is open already is."""
        # A thread is not there before it has said so: asking for the current one would make up another.
        thread = threading._active.get(threading.get_ident())  # pylint: disable=protected-access
        if thread is None:
            return _SILENT
        if thread is self.worker:
            self.local.lane = _SILENT
            return _SILENT
        lane = Lane(thread)
        words = lane.words
        self.local.lane = words.append, words, lane
        if self.on:
            lane.limit = self.limit
            words.extend(((_now(), self.open_methods(at.f_back if event == "call" else at)), _OTHER))
        else:
            lane.told = -1
        self.lanes.append(lane)
        return self.local.lane

    def full(self, lane, at, event):
        if lane is not _SILENT[2]:
            super().full(lane, at, event)

    def lane_of_mark(self):
        lane = getattr(self.local, "lane", None)
        return lane[2] if lane is not None else None

    def set_off(self, id_, bits):
        had_none = self.ids.get(id(self.codes[id_])) == b""
        super().set_off(id_, bits)
        if had_none and not bits and self.has_tool:
            _monitoring.restart_events()

    def probe_threads(self, on):
        if on:
            for lane in list(self.lanes):
                lane.lost, lane.told, lane.limit = 0, -1, -1
        if self.has_tool:
            _monitoring.set_events(self.tool, self.events if on else 0)

    def probe_this(self):
        """All threads have probes."""

    def unprobe(self):
        if self.has_tool:
            self.has_tool = False
            _monitoring.set_events(self.tool, 0)
            _monitoring.free_tool_id(self.tool)
