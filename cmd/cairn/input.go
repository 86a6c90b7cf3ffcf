package main

import (
	"context"
	"io"
)

// interruptibleReader reads in until the context ends, even if a read of in blocks
// for ever, as one of a pipe or a terminal may. That read goes on in the background.
func interruptibleReader(ctx context.Context, in io.Reader) io.Reader {
	r, w := io.Pipe()
	context.AfterFunc(ctx, func() { w.CloseWithError(ctx.Err()) })
	go func() {
		_, err := io.Copy(w, in)
		w.CloseWithError(err) // nil means the end
	}()
	return r
}
