package gittest

import (
	"context"
	"os"
	"sync"
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

// When returns a context that calls do once, as soon as a file exists and Err is asked. Without a clock
// another program is at work then between two steps of a command.
func When(parent context.Context, file string, do func()) context.Context {
	return &when{Context: parent, file: file, do: sync.OnceFunc(do)}
}

type when struct {
	context.Context
	file string
	do   func()
}

func (c *when) Err() error {
	if _, err := os.Lstat(c.file); err == nil {
		c.do()
	}
	return c.Context.Err()
}
