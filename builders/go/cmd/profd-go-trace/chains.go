package main

import (
	"sort"

	"golang.org/x/exp/trace"
	"profd.dev/builder"
)

const (
	maxDepth  = 8          // wakers of wakers
	maxPieces = 20_000_000 // of all chains; what is beyond is not followed further
)

// What wakes goroutines that no goroutine does, by what they wait for.
var wokenBy = map[string]string{"sleep": "(timer)", "network": "(network)"}

// chains says what blocked goroutines waited for: every nanosecond of a wait goes to what the goroutine that ended it did then.
type chains struct {
	h      *history
	w      *writer
	pieces int
	cut    int // waits that were not followed to their end, for maxPieces
}

// wait is a stretch of time in which a goroutine is blocked that one of its wakers ended.
type wait struct {
	above      builder.Context // all that is said so far
	of         *interval
	begin, end int64
	depth      int
}

// of adds up, by context, what goroutine g waited for in interval i. The sum is the length of the interval.
func (c *chains) of(g *goroutine, i int) map[builder.Context]int64 {
	out := map[builder.Context]int64{}
	first := &g.intervals[i]
	todo := []wait{{c.w.under(builder.Root, first.stack, g.entry, builder.Native), first, first.begin, g.endOf(i), 0}}
	for len(todo) > 0 {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		todo = c.step(at, todo, out)
	}
	return out
}

func (c *chains) step(at wait, todo []wait, out map[builder.Context]int64) []wait {
	if !at.of.woken {
		out[c.w.leaf(at.above, "(open)")] += at.end - at.begin
		return todo
	}
	then := c.w.leaf(at.above, "--")
	waker := c.h.goroutines[at.of.waker]
	if at.of.waker == trace.NoGoroutine || waker == nil || len(waker.intervals) == 0 {
		name, known := wokenBy[at.of.reason]
		if !known {
			name = "(waker unknown)"
		}
		out[c.w.leaf(c.w.under(then, at.of.at, nil, builder.Waker), name)] += at.end - at.begin
		return todo
	}
	place := func(stack []builder.Frame) builder.Context { return c.w.under(then, stack, waker.entry, builder.Waker) }
	if c.pieces > maxPieces {
		c.cut++
		out[c.w.leaf(place(at.of.at), "(chain not followed)")] += at.end - at.begin
		return todo
	}
	// What it did before its first event nobody knows, nor after its end.
	if early := min(waker.intervals[0].begin, at.end) - at.begin; early > 0 {
		out[c.w.leaf(place(nil), "(unknown)")] += early
	}
	from := sort.Search(len(waker.intervals), func(i int) bool { return waker.endOf(i) > at.begin })
	for i := from; i < len(waker.intervals) && waker.intervals[i].begin < at.end; i++ {
		of := &waker.intervals[i]
		begin, end := max(of.begin, at.begin), min(waker.endOf(i), at.end)
		if begin >= end {
			continue
		}
		c.pieces++
		switch {
		case of.state == blocked && at.depth+1 == maxDepth:
			out[c.w.leaf(place(of.stack), "(chain goes on)")] += end - begin
		case of.state == blocked:
			todo = append(todo, wait{place(of.stack), of, begin, end, at.depth + 1})
		case of.state == running && end == at.end && len(at.of.at) > 0:
			// Where it woke the other is known.
			out[place(at.of.at)] += end - begin
		default:
			out[c.w.leaf(place(of.stack), leafOf[of.state])] += end - begin
		}
	}
	if late := at.end - max(waker.end, at.begin); late > 0 {
		out[c.w.leaf(place(nil), "(unknown)")] += late
	}
	return todo
}
