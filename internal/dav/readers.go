package dav

import (
	"errors"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// maxParked is the number of readers that wait for the next range. Each holds a file open and the
// window of an inflater, some 40 kB.
const maxParked = 16

// parkAbove is the size in bytes above which reading a file again costs more than keeping a reader.
const parkAbove = 1 << 20

// Readers are readers that have stopped in the middle of a file. The zero value is ready.
type Readers struct {
	mu     sync.Mutex
	parked []*reader // the least recent first
	closed bool
}

// reader is a reader of a file that knows where it is.
type reader struct {
	io.ReadCloser
	id     object.ID
	at     int64 // of the next byte
	size   int64
	since  time.Time // when it was parked
	failed bool
}

func (r *reader) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	r.at += int64(n)
	r.failed = r.failed || err != nil
	return n, err
}

// readerAt returns a reader of a file that is at a position or before it: the nearest one that waits, else
// a new one.
func (rs *Readers) readerAt(n *node, pos int64) (*reader, error) {
	if r := rs.nearest(n.id, pos); r != nil {
		return r, nil
	}
	in, err := n.open()
	if err != nil {
		return nil, err
	}
	return &reader{ReadCloser: in, id: n.id, size: n.size}, nil
}

func (rs *Readers) nearest(id object.ID, pos int64) *reader {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	best := -1
	for i, r := range rs.parked {
		if r.id == id && r.at <= pos && (best < 0 || r.at > rs.parked[best].at) {
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	r := rs.parked[best]
	rs.parked = slices.Delete(rs.parked, best, best+1)
	return r
}

// park keeps a reader for the next range, or closes it where that is of no use.
func (rs *Readers) park(r *reader) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if rs.closed || r.failed || r.size <= parkAbove || r.at >= r.size {
		r.Close()
		return
	}
	if len(rs.parked) == maxParked {
		rs.parked[0].Close()
		rs.parked = rs.parked[1:]
	}
	r.since = time.Now()
	rs.parked = append(rs.parked, r)
}

// CloseIdle closes the readers that wait since before a time.
func (rs *Readers) CloseIdle(before time.Time) (err error) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	rs.parked = slices.DeleteFunc(rs.parked, func(r *reader) bool {
		old := r.since.Before(before)
		if old {
			err = errors.Join(err, r.Close())
		}
		return old
	})
	return err
}

// Close closes all readers that wait. Later ones do not wait.
func (rs *Readers) Close() (err error) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	rs.closed = true
	for _, r := range rs.parked {
		err = errors.Join(err, r.Close())
	}
	rs.parked = nil
	return err
}
