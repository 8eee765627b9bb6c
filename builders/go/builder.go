// Package builder writes .profd files: what a profiler in Go imports. No dependencies.
//
//	b := builder.New("myprof")
//	cpu := b.Metric("cpu", "nanoseconds")
//	work := b.Frame(builder.FrameSpec{Function: b.Function("work", "main.go", 4), Line: 5})
//	b.Add(b.Stack(work), cpu, 1_500_000)
//	err := b.Write("out.profd")
//
// Equal functions, frames, threads, labels and contexts given twice are one. Ids belong to their builder. Errors
// stick: after the first one calls do nothing, and Write and Bytes return it. A builder may be used by one goroutine
// at a time. The file is docs/profd-format.md, version 1.
package builder

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"strings"
)

type (
	Metric      uint32
	Module      uint32 // 0: none
	Function    uint32
	Frame       uint32
	Context     uint32
	Thread      uint32 // 0: none
	Labels      uint32 // 0: none
	Association uint32
)

// Root is the context above all stacks.
const Root Context = 0

// NoTime marks a sample whose time is not known.
const NoTime = math.MinInt64

const none = math.MaxUint32

// Kind of code a frame is.
type Kind uint8

const (
	Native Kind = iota
	JIT
	Interpreted
	Kernel
	GC
	Waker
	DataObject
)

// FrameSpec is everything a frame can have; only Function is needed.
type FrameSpec struct {
	Function     Function
	Line, Column uint32
	Address      uint64
	Module       Module
	Kind         Kind
	Inlined      bool // into the frame that calls it
}

// Label is a text, or a number when Numeric.
type Label struct {
	Key, Text string
	Numeric   bool
	Number    int64
	Unit      string
}

type metric struct {
	name, unit string
	real       bool
}
type module struct{ name, buildID uint32 }
type function struct{ name, file, line uint32 }
type thread struct {
	name, process uint32
	tid, pid      int64
}
type context struct {
	parent Context
	frame  Frame
}
type label struct {
	key, text, unit, numeric uint32
	number                   int64
}
type sample struct {
	context Context
	thread  Thread
	labels  Labels
	time    int64
}
type sum struct {
	context Context
	metric  Metric
}
type association struct {
	name   string
	roles  []string
	ids    [][]uint32
	values []int64
}

// table gives equal rows one number.
type table[T comparable] struct {
	rows  []T
	index map[T]uint32
}

func (t *table[T]) row(value T) uint32 {
	if at, known := t.index[value]; known {
		return at
	}
	if t.index == nil {
		t.index = map[T]uint32{}
	}
	at := uint32(len(t.rows))
	t.index[value] = at
	t.rows = append(t.rows, value)
	return at
}

// Builder collects one profile.
type Builder struct {
	err           error
	info          message
	texts         table[string]
	metrics       []metric
	defaultMetric Metric
	modules       table[module]
	functions     table[function]
	frames        table[FrameSpec]
	threads       table[thread]
	contexts      table[context]
	labelSets     table[string]
	labels        [][]label
	sums          table[sum]
	ints          []int64
	floats        []float64
	samples       []sample
	values        []int64 // one per metric and sample
	associations  []association
}

// New returns an empty builder; profiler is its name, for people.
func New(profiler string) *Builder {
	b := &Builder{labels: [][]label{nil}}
	b.text("")
	b.labelSets.row("")
	b.info.text(3, profiler)
	return b
}

func (b *Builder) fail(format string, args ...any) {
	if b.err == nil {
		b.err = fmt.Errorf("profd builder: "+format, args...)
	}
}
func (b *Builder) text(s string) uint32 { return b.texts.row(strings.ToValidUTF8(s, "\uFFFD")) }

// Program names what was measured.
func (b *Builder) Program(path string) { b.info.text(4, path) }

// Comment adds a line for people.
func (b *Builder) Comment(text string) { b.info.text(10, text) }

// Time tells when the measurement began (nanoseconds since 1970, UTC) and how long it was.
func (b *Builder) Time(startUnixNs, durationNs int64) {
	b.info.signed(5, startUnixNs).signed(6, durationNs)
}

// Period tells how far apart samples are.
func (b *Builder) Period(period int64, kind, unit string) {
	b.info.signed(7, period).text(8, kind).text(9, unit)
}

// Metric declares a metric before the first value; unit is "nanoseconds", "bytes", "count" or any other word.
func (b *Builder) Metric(name, unit string) Metric { return b.addMetric(metric{name, unit, false}) }

// RealMetric is a Metric of floating point values.
func (b *Builder) RealMetric(name, unit string) Metric { return b.addMetric(metric{name, unit, true}) }

func (b *Builder) addMetric(m metric) Metric {
	if len(b.sums.rows) > 0 || len(b.samples) > 0 {
		b.fail("a metric was declared after the first value")
	}
	b.metrics = append(b.metrics, m)
	return Metric(len(b.metrics) - 1)
}

// DefaultMetric is the one shown first.
func (b *Builder) DefaultMetric(m Metric) { b.defaultMetric = m }

// Module is a binary, library or package; buildID is hex or "".
func (b *Builder) Module(name, buildID string) Module {
	return Module(b.modules.row(module{b.text(name), b.text(buildID)}) + 1)
}

// Function: file may be "" and line 0, which means unknown.
func (b *Builder) Function(name, file string, line uint32) Function {
	return Function(b.functions.row(function{b.text(name), b.text(file), line}))
}

// Frame is an entry of a call stack.
func (b *Builder) Frame(spec FrameSpec) Frame {
	if int(spec.Function) >= len(b.functions.rows) || int(spec.Module) > len(b.modules.rows) || spec.Kind > DataObject {
		b.fail("a frame has no function, module or kind of this builder")
	}
	return Frame(b.frames.row(spec))
}

// Thread: -1 and "" mean unknown.
func (b *Builder) Thread(name string, tid int64, process string, pid int64) Thread {
	return Thread(b.threads.row(thread{b.text(name), b.text(process), tid, pid}) + 1)
}

// Labels gives the set of labels of samples.
func (b *Builder) Labels(labels ...Label) Labels {
	var key strings.Builder
	var set []label
	for _, l := range labels {
		row := label{key: b.text(l.Key)}
		if l.Numeric {
			row.numeric, row.number, row.unit = 1, l.Number, b.text(l.Unit)
		} else {
			row.text = b.text(l.Text)
		}
		fmt.Fprint(&key, row)
		set = append(set, row)
	}
	at := b.labelSets.row(key.String())
	if int(at) == len(b.labels) {
		b.labels = append(b.labels, set)
	}
	return Labels(at)
}

// Context is a frame called from parent.
func (b *Builder) Context(parent Context, frame Frame) Context {
	if int(parent) > len(b.contexts.rows) || int(frame) >= len(b.frames.rows) {
		b.fail("a context has no parent or frame of this builder")
		return Root
	}
	return Context(b.contexts.row(context{parent, frame}) + 1)
}

// Stack is the context of a whole stack, root first.
func (b *Builder) Stack(frames ...Frame) Context {
	at := Root
	for _, frame := range frames {
		at = b.Context(at, frame)
	}
	return at
}

// Add adds to the self value of a context. A profile has sums or samples, not both.
func (b *Builder) Add(c Context, m Metric, value int64) { b.add(c, m, value, 0) }

// AddReal is Add for a RealMetric.
func (b *Builder) AddReal(c Context, m Metric, value float64) { b.add(c, m, 0, value) }

func (b *Builder) add(c Context, m Metric, i int64, f float64) {
	if int(c) > len(b.contexts.rows) || int(m) >= len(b.metrics) || len(b.samples) > 0 {
		b.fail("a value has no context or metric of this builder, or stands beside samples")
		return
	}
	at := b.sums.row(sum{c, m})
	if int(at) == len(b.ints) {
		b.ints, b.floats = append(b.ints, 0), append(b.floats, 0)
	}
	b.ints[at] += i
	b.floats[at] += f
}

// Sample is one measurement with one value per metric; time is in nanoseconds since the start, or NoTime.
func (b *Builder) Sample(c Context, values []int64, t Thread, time int64, l Labels) {
	if int(c) > len(b.contexts.rows) || int(t) > len(b.threads.rows) || int(l) >= len(b.labels) ||
		len(values) != len(b.metrics) || len(b.sums.rows) > 0 {
		b.fail("a sample has no context, thread or labels of this builder, not one value per metric, or stands beside sums")
		return
	}
	b.samples = append(b.samples, sample{c, t, l, time})
	b.values = append(b.values, values...)
}

// Association ties contexts together: the two sides of a race, allocation and use.
func (b *Builder) Association(name string, roles ...string) Association {
	b.associations = append(b.associations, association{name: name, roles: roles, ids: make([][]uint32, len(roles))})
	return Association(len(b.associations) - 1)
}

// Tie adds a record with one context per role; Root where the record lacks it.
func (b *Builder) Tie(a Association, value int64, contexts ...Context) {
	if int(a) >= len(b.associations) || len(contexts) != len(b.associations[a].roles) {
		b.fail("a record has one context for each role of its association")
		return
	}
	to := &b.associations[a]
	for role, c := range contexts {
		if int(c) > len(b.contexts.rows) {
			b.fail("an association has no context of this builder")
		}
		id := uint32(c)
		if c == Root {
			id = none
		}
		to.ids[role] = append(to.ids[role], id)
	}
	to.values = append(to.values, value)
}

// Write writes the file whole or not at all: who watches the path never sees half of it.
func (b *Builder) Write(path string) error {
	data, err := b.Bytes()
	if err != nil {
		return err
	}
	if err := os.WriteFile(path+".part", data, 0o666); err != nil {
		return err
	}
	return os.Rename(path+".part", path)
}

// Bytes returns the file.
func (b *Builder) Bytes() ([]byte, error) {
	if len(b.metrics) == 0 {
		b.fail("a profile needs a metric")
	}
	if b.err != nil {
		return nil, b.err
	}
	var file message
	file.text(1, "profd profile").fixed32(2, 1).text(3, "profd builder for Go").fixed32(4, 1)
	return file.blob(7, b.profile()), nil
}

func (b *Builder) profile() message {
	var p, blob message
	offsets := make([]uint64, 1, len(b.texts.rows)+1)
	for _, text := range b.texts.rows {
		blob = append(blob, text...)
		offsets = append(offsets, uint64(len(blob)))
	}
	p.blob(1, b.info)
	p.blob(2, message{}.with(1, blob).with(2, u64s(offsets, func(v uint64) uint64 { return v })))
	p.blob(3, message{}.with(1, u32s(b.modules.rows, func(r module) uint32 { return r.name })).
		with(2, u32s(b.modules.rows, func(r module) uint32 { return r.buildID })))
	p.blob(4, message{}.with(1, u32s(b.functions.rows, func(r function) uint32 { return r.name })).
		with(3, u32s(b.functions.rows, func(r function) uint32 { return r.file })).
		with(4, u32s(b.functions.rows, func(r function) uint32 { return r.line })))
	p.blob(5, message{}.with(1, u32s(b.frames.rows, func(r FrameSpec) uint32 { return uint32(r.Function) })).
		with(2, u32s(b.frames.rows, func(r FrameSpec) uint32 { return uint32(r.Module) - 1 })).
		with(4, u32s(b.frames.rows, func(r FrameSpec) uint32 { return r.Line })).
		with(5, u32s(b.frames.rows, func(r FrameSpec) uint32 { return r.Column })).
		with(6, u64s(b.frames.rows, func(r FrameSpec) uint64 { return r.Address })).
		with(7, u8s(b.frames.rows, func(r FrameSpec) uint8 { return uint8(r.Kind) })).
		with(8, u8s(b.frames.rows, func(r FrameSpec) uint8 { return bit(r.Inlined) })))
	p.blob(6, message{}.with(1, u32s(b.threads.rows, func(r thread) uint32 { return r.name })).
		with(2, u32s(b.threads.rows, func(r thread) uint32 { return r.process })).
		with(3, u64s(b.threads.rows, func(r thread) uint64 { return uint64(r.tid) })).
		with(4, u64s(b.threads.rows, func(r thread) uint64 { return uint64(r.pid) })))
	if len(b.labels) > 1 {
		p.blob(7, b.labelMessage())
	}
	for _, m := range b.metrics {
		p.blob(8, *new(message).text(1, m.name).text(2, m.unit).number(3, uint64(bit(m.real))))
	}
	p.number(9, uint64(b.defaultMetric))
	p.blob(12, message{}.with(1, u32s(b.contexts.rows, func(r context) uint32 { return uint32(r.parent) })).
		with(2, u32s(b.contexts.rows, func(r context) uint32 { return uint32(r.frame) })))
	if len(b.samples) > 0 {
		p.blob(14, b.sampleMessage())
	} else {
		p.blob(13, b.sumMessage())
	}
	for _, a := range b.associations {
		var m message
		m.text(1, a.name)
		for _, role := range a.roles {
			m.blob(2, message(role))
		}
		for _, ids := range a.ids {
			m.blob(3, message{}.with(1, u32s(ids, func(v uint32) uint32 { return v })))
		}
		m.blob(4, *new(message).text(1, "count").text(2, "count"))
		m.blob(5, message{}.with(1, u64s(a.values, func(v int64) uint64 { return uint64(v) })))
		p.blob(16, m)
	}
	return p
}

func (b *Builder) labelMessage() message {
	var rows []label
	first := []uint32{0}
	for _, set := range b.labels {
		rows = append(rows, set...)
		first = append(first, uint32(len(rows)))
	}
	return message{}.with(1, u32s(first, func(v uint32) uint32 { return v })).
		with(2, u32s(rows, func(r label) uint32 { return r.key })).
		with(3, u32s(rows, func(r label) uint32 { return r.text })).
		with(4, u64s(rows, func(r label) uint64 { return uint64(r.number) })).
		with(5, u32s(rows, func(r label) uint32 { return r.unit })).
		with(6, u8s(rows, func(r label) uint8 { return uint8(r.numeric) }))
}

func (b *Builder) sampleMessage() message {
	m := message{}.with(1, u32s(b.samples, func(s sample) uint32 { return uint32(s.context) }))
	n := len(b.metrics)
	for i := range b.metrics {
		var column message
		for s := range b.samples {
			column = binary.LittleEndian.AppendUint64(column, uint64(b.values[s*n+i]))
		}
		m.blob(2, message{}.with(1, column))
	}
	if len(b.labels) > 1 {
		m = m.with(3, u32s(b.samples, func(s sample) uint32 { return uint32(s.labels) }))
	}
	if len(b.threads.rows) > 0 {
		m = m.with(4, u32s(b.samples, func(s sample) uint32 { return uint32(s.thread) - 1 }))
	}
	return m.with(5, u64s(b.samples, func(s sample) uint64 { return uint64(s.time) }))
}

func (b *Builder) sumMessage() message {
	m := message{}.with(2, u32s(b.sums.rows, func(s sum) uint32 { return uint32(s.context) }))
	for i, metric := range b.metrics {
		var column message
		for row, s := range b.sums.rows {
			bits := uint64(0)
			if int(s.metric) == i && metric.real {
				bits = math.Float64bits(b.floats[row])
			} else if int(s.metric) == i {
				bits = uint64(b.ints[row])
			}
			column = binary.LittleEndian.AppendUint64(column, bits)
		}
		m.blob(3, message{}.with(1+int(bit(metric.real)), column))
	}
	return m
}
