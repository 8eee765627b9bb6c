// profd-go-trace makes a .profd of a Go execution trace: for each goroutine how long it was on a processor, blocked, runnable and in
// system calls, where, and what it waited for. The four add up to its life, to the nanosecond.
//
//	go test -trace app.trace   (or runtime/trace, net/http/pprof, a flight recorder)
//	profd-go-trace app.trace   (writes app.trace.profd)
package main

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"sort"

	"profd.dev/builder"
)

// Innermost frames, where no stack says more. Threads of other systems have the same.
var leafOf = map[state]string{running: "(on CPU, no sample)", blocked: "(blocked)", runnable: "(runnable)", syscall: "(system call)", unknown: "(unknown)"}

const (
	wallMetric = iota
	cpuMetric
	blockedMetric
	runnableMetric
	unknownMetric
	chainsMetric
	nMetrics
)

var metricNames = [nMetrics]string{"wall", "on-cpu", "blocked", "runnable", "unknown", "chains"}

// In system calls a goroutine is on a processor or blocked; a trace does not tell which.
var metricOf = map[state]int{running: cpuMetric, blocked: blockedMetric, runnable: runnableMetric, syscall: unknownMetric, unknown: unknownMetric}

type writer struct {
	b      *builder.Builder
	h      *history
	leaves map[string]builder.Frame
}

func (w *writer) leaf(above builder.Context, name string) builder.Context {
	frame, known := w.leaves[name]
	if !known {
		frame = w.b.Frame(builder.FrameSpec{Function: w.b.Function(name, "", 0)})
		w.leaves[name] = frame
	}
	return w.b.Context(above, frame)
}

// under is a stack, or where there is none another one, below a context.
func (w *writer) under(above builder.Context, stack, otherwise []builder.Frame, kind builder.Kind) builder.Context {
	if len(stack) == 0 {
		stack = otherwise
	}
	for _, frame := range stack {
		if kind == builder.Waker {
			spec := w.h.specs[frame].FrameSpec
			spec.Kind = kind
			frame = w.b.Frame(spec)
		}
		above = w.b.Context(above, frame)
	}
	return above
}

func (w *writer) goroutine(c *chains, g *goroutine) {
	thread := w.b.Thread(g.name, int64(g.id), "", -1)
	for i := range g.intervals {
		of := &g.intervals[i]
		length := g.endOf(i) - of.begin
		if length == 0 {
			continue
		}
		var labels builder.Labels
		if of.reason != "" {
			labels = w.b.Labels(builder.Label{Key: "reason", Text: of.reason})
		}
		add := func(at builder.Context, begin, length int64) {
			var values [nMetrics]int64
			values[wallMetric], values[metricOf[of.state]] = length, length
			w.b.Sample(at, values[:], thread, begin-w.h.begin, labels)
		}
		if of.state == running && len(of.samples) > 0 {
			// They share the interval; the first takes what does not divide.
			n := int64(len(of.samples))
			part, begin := length/n, of.begin
			for k, stack := range of.samples {
				share := part
				if k == 0 {
					share += length % n
				}
				add(w.under(builder.Root, stack, g.entry, builder.Native), begin, share)
				begin += share
			}
			continue
		}
		stack := of.stack
		if of.state == running {
			stack = nil // what it began with is over at once
		}
		if of.state == blocked {
			// Before the interval itself, which of all that has this time then lasts to the next.
			sums := c.of(g, i)
			places := make([]builder.Context, 0, len(sums))
			for place := range sums {
				places = append(places, place)
			}
			sort.Slice(places, func(i, j int) bool { return places[i] < places[j] })
			for _, place := range places {
				var values [nMetrics]int64
				values[chainsMetric] = sums[place]
				w.b.Sample(place, values[:], thread, of.begin-w.h.begin, labels)
			}
		}
		add(w.leaf(w.under(builder.Root, stack, g.entry, builder.Native), leafOf[of.state]), of.begin, length)
	}
}

func convert(path, out string, partial bool) error {
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	b := builder.New("go tool trace")
	for _, name := range metricNames {
		b.Metric(name, "nanoseconds")
	}
	h, err := readHistory(bufio.NewReaderSize(in, 1<<20), b)
	goroutines := h.sorted()
	if err != nil {
		if len(goroutines) > 0 && !partial {
			return fmt.Errorf("%s: %w; -partial converts what is before that", path, err)
		}
		if len(goroutines) == 0 {
			return fmt.Errorf("%s: %w", path, err)
		}
		b.Comment(fmt.Sprintf("The trace could not be read to its end: %v.", err))
		fmt.Fprintf(os.Stderr, "profd-go-trace: %s could not be read to its end: %v\n", path, err)
	}
	if len(goroutines) == 0 {
		return fmt.Errorf("%s: the trace has no goroutine", path)
	}
	b.Time(h.startUnixNs, h.end-h.begin)
	w := &writer{b: b, h: h, leaves: map[string]builder.Frame{}}
	c := &chains{h: h, w: w}
	for _, g := range goroutines {
		w.goroutine(c, g)
	}
	say := func(n int, text string) {
		if n > 0 {
			b.Comment(fmt.Sprintf(text, n))
			fmt.Fprintf(os.Stderr, "profd-go-trace: "+text+"\n", n)
		}
	}
	say(h.contradictory, "Events that contradict those before: %d. What was between them is unknown.")
	say(h.stray, "Samples of goroutines that were not running: %d. They are left out.")
	say(c.cut, "Waits that are not followed to their end: %d.")
	kinds := make([]string, 0, len(h.left))
	for kind := range h.left {
		kinds = append(kinds, kind)
	}
	sort.Strings(kinds)
	for _, kind := range kinds {
		say(h.left[kind], "Not taken over, "+kind+": %d.")
	}
	return b.Write(out)
}

func main() {
	out := flag.String("o", "", "the file to write; otherwise TRACE.profd")
	partial := flag.Bool("partial", false, "of a trace that is cut or damaged, convert what can be read")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: profd-go-trace [-o OUT.profd] [-partial] TRACE")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	if *out == "" {
		*out = flag.Arg(0) + ".profd"
	}
	if err := convert(flag.Arg(0), *out, *partial); err != nil {
		fmt.Fprintln(os.Stderr, "profd-go-trace:", err)
		os.Exit(1)
	}
}
