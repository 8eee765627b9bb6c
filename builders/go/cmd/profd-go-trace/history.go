package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"

	"golang.org/x/exp/trace"
	"profd.dev/builder"
)

type state uint8

const (
	unknown state = iota // its events contradict each other, or the trace does not say
	running
	blocked
	runnable
	syscall
)

// interval is a state of a goroutine from begin to the next one's begin. Times are those of the trace.
type interval struct {
	begin  int64
	state  state
	reason string
	stack  []builder.Frame // root first, where it is known
	// Of one that is blocked: who ended it, and where.
	woken bool
	waker trace.GoID // NoGoroutine: a timer, the network, the runtime
	at    []builder.Frame
	// Of one that is running: stacks that a CPU profile saw meanwhile.
	samples [][]builder.Frame
}

type goroutine struct {
	id        trace.GoID
	entry     []builder.Frame // its first function alone, without a line
	name      string          // of that
	intervals []interval
	end       int64
	ended     bool
}

// last is the interval that the goroutine is in; nil before its first event and after its end.
func (g *goroutine) last() *interval {
	if g.ended || len(g.intervals) == 0 {
		return nil
	}
	return &g.intervals[len(g.intervals)-1]
}

// endOf is where interval i ends.
func (g *goroutine) endOf(i int) int64 {
	if i+1 < len(g.intervals) {
		return g.intervals[i+1].begin
	}
	return g.end
}

// history is what a trace says of goroutines.
type history struct {
	goroutines    map[trace.GoID]*goroutine
	begin, end    int64 // of the trace
	startUnixNs   int64 // 0: not known
	contradictory int   // events that do not follow from those before
	stray         int   // samples of goroutines that were not running
	left          map[string]int
	b             *builder.Builder
	stacks        map[trace.Stack][]builder.Frame
	specs         map[builder.Frame]frame
}

type frame struct {
	builder.FrameSpec
	name string
}

func (h *history) frame(spec builder.FrameSpec, name string) builder.Frame {
	id := h.b.Frame(spec)
	h.specs[id] = frame{spec, name}
	return id
}

// stack is root first.
func (h *history) stack(s trace.Stack) []builder.Frame {
	if s == trace.NoStack {
		return nil
	}
	if frames, known := h.stacks[s]; known {
		return frames
	}
	var frames []builder.Frame
	for f := range s.Frames() {
		spec := builder.FrameSpec{Function: h.b.Function(f.Func, f.File, 0), Line: uint32(f.Line)}
		frames = append(frames, h.frame(spec, f.Func))
	}
	slices.Reverse(frames)
	// Samples of a CPU profile have what starts goroutines as well; stacks of events begin after that.
	for len(frames) > 1 && (h.specs[frames[0]].name == "runtime.goexit" || h.specs[frames[0]].name == "runtime.main") {
		frames = frames[1:]
	}
	h.stacks[s] = frames
	return frames
}

func (h *history) goroutine(id trace.GoID) *goroutine {
	g := h.goroutines[id]
	if g == nil {
		g = &goroutine{id: id}
		h.goroutines[id] = g
	}
	return g
}

// enter notes the first function of a goroutine, which any of its stacks begins with. Which line of it runs is another thing.
func (h *history) enter(g *goroutine, stack []builder.Frame) {
	if g.entry != nil || len(stack) == 0 {
		return
	}
	first := h.specs[stack[0]]
	g.name = first.name
	g.entry = []builder.Frame{h.frame(builder.FrameSpec{Function: first.Function}, first.name)}
}

func stateOf(s trace.GoState) state {
	switch s {
	case trace.GoRunning:
		return running
	case trace.GoWaiting:
		return blocked
	case trace.GoRunnable:
		return runnable
	case trace.GoSyscall:
		return syscall
	}
	return unknown
}

func (h *history) transition(e trace.Event) {
	t := e.StateTransition()
	if t.Resource.Kind != trace.ResourceGoroutine {
		return
	}
	g := h.goroutine(t.Resource.Goroutine())
	from, to := t.Goroutine()
	now := int64(e.Time())
	stack := h.stack(t.Stack)
	h.enter(g, stack)
	before := g.last()
	if before != nil {
		if now < before.begin {
			now = before.begin
			h.contradictory++
		}
		if from != trace.GoUndetermined && stateOf(from) != before.state {
			h.contradictory++
			before.state, before.reason = unknown, ""
		}
		if before.state == blocked && to == trace.GoRunnable {
			before.woken, before.waker, before.at = true, e.Goroutine(), h.stack(e.Stack())
		}
	}
	if to == trace.GoNotExist {
		if before != nil {
			g.end, g.ended = now, true
		}
		return
	}
	if g.ended {
		h.contradictory++
		return
	}
	next := interval{begin: now, state: stateOf(to), stack: stack}
	if from == trace.GoNotExist {
		next.stack = nil // of its function alone, at no line that was reached
	}
	if next.state == blocked || next.state == syscall {
		next.reason = t.Reason
	}
	// It is still where it was blocked.
	if stack == nil && before != nil && before.state == blocked {
		next.stack = before.stack
	}
	g.intervals = append(g.intervals, next)
}

func (h *history) event(e trace.Event) {
	now := int64(e.Time())
	if h.begin == 0 || now < h.begin {
		h.begin = now
	}
	h.end = max(h.end, now)
	switch e.Kind() {
	case trace.EventSync:
		// Stacks belong to the part of the trace between two of these.
		h.stacks = map[trace.Stack][]builder.Frame{}
		if clock := e.Sync().ClockSnapshot; clock != nil && h.startUnixNs == 0 {
			h.startUnixNs = clock.Wall.UnixNano() - (int64(clock.Trace) - h.begin)
		}
	case trace.EventStateTransition:
		h.transition(e)
	case trace.EventStackSample:
		if e.Goroutine() == trace.NoGoroutine {
			h.stray++
			return
		}
		at := h.goroutine(e.Goroutine()).last()
		if at == nil || at.state != running {
			h.stray++
			return
		}
		at.samples = append(at.samples, h.stack(e.Stack()))
	case trace.EventTaskBegin:
		h.left["tasks"]++
	case trace.EventRegionBegin:
		h.left["regions"]++
	case trace.EventLog:
		h.left["log entries"]++
	case trace.EventRangeBegin:
		h.left["ranges (collections, pauses)"]++
	case trace.EventMetric:
		h.left["values of metrics"]++
	}
	if g := h.goroutines[e.Goroutine()]; g != nil {
		h.enter(g, h.stack(e.Stack()))
	}
}

// readHistory reads a trace to its end. With an error, what was read before it is returned as well.
func readHistory(in io.Reader, b *builder.Builder) (*history, error) {
	h := &history{goroutines: map[trace.GoID]*goroutine{}, left: map[string]int{}, b: b,
		stacks: map[trace.Stack][]builder.Frame{}, specs: map[builder.Frame]frame{}}
	reader, err := trace.NewReader(in)
	if err != nil {
		return h, err
	}
	n := 0
	for {
		e, err := reader.ReadEvent()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			h.finish()
			return h, fmt.Errorf("after %d events: %w", n, err)
		}
		h.event(e)
		n++
	}
	h.finish()
	return h, nil
}

// finish lets what goes on last to the end of the trace.
func (h *history) finish() {
	for _, g := range h.goroutines {
		if !g.ended {
			g.end = h.end
		}
	}
}

// sorted are the goroutines with a life, by id.
func (h *history) sorted() []*goroutine {
	var out []*goroutine
	for _, g := range h.goroutines {
		if len(g.intervals) > 0 {
			out = append(out, g)
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].id < out[j].id })
	return out
}
