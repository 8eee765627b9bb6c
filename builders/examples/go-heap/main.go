// A heap profiler: what the Go runtime sampled of allocations, as a .profd file.
package main

import (
	"log"
	"os"
	"runtime"

	"profd.dev/builder"
)

func record(path string) error {
	records := make([]runtime.MemProfileRecord, 10000)
	n, _ := runtime.MemProfile(records, true)
	b := builder.New("go heap example")
	space, objects := b.Metric("alloc_space", "bytes"), b.Metric("alloc_objects", "count")
	for _, record := range records[:n] {
		at, stack := runtime.CallersFrames(record.Stack()), []builder.Frame{}
		for more := true; more; {
			var f runtime.Frame
			f, more = at.Next()
			function := b.Function(f.Function, f.File, 0)
			stack = append([]builder.Frame{b.Frame(builder.FrameSpec{Function: function, Line: uint32(f.Line), Address: uint64(f.PC)})}, stack...)
		}
		b.Add(b.Stack(stack...), space, record.AllocBytes)
		b.Add(b.Stack(stack...), objects, record.AllocObjects)
	}
	return b.Write(path)
}

var kept [][]byte

//go:noinline
func hoard() {
	for i := 0; i < 1000; i++ {
		kept = append(kept, make([]byte, 4096))
	}
}

func main() {
	runtime.MemProfileRate = 1
	hoard()
	if err := record(os.Args[1]); err != nil {
		log.Fatal(err)
	}
}
