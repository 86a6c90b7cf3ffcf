package gittest

import (
	"context"
	"os"
)

// Until returns a context that has ended once a file exists. Without a clock it stops a command at the
// step that makes the file. Only Err tells: Done is that of the parent.
func Until(parent context.Context, file string) context.Context { return until{parent, file} }

type until struct {
	context.Context
	file string
}

func (c until) Err() error {
	if _, err := os.Lstat(c.file); err == nil {
		return context.Canceled
	}
	return c.Context.Err()
}
