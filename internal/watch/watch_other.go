//go:build !linux

package watch

import "os"

// Watcher is not available on this system: kqueue needs a descriptor for each file, and the others
// report names in no reliable order.
type Watcher struct{}

// New returns ErrUnsupported.
func New(string) (*Watcher, error) { return nil, ErrUnsupported }

// Add is never called: there is no Watcher.
func (*Watcher) Add(string, *os.File) error { return ErrUnsupported }

// AddHandle is never called either.
func (*Watcher) AddHandle(string, int) error { return ErrUnsupported }

// Changes says that everything may have changed.
func (*Watcher) Changes() Changes { return everything(ErrUnsupported.Error()) }

// Watched returns 0.
func (*Watcher) Watched() int { return 0 }

// Close does nothing.
func (*Watcher) Close() error { return nil }
