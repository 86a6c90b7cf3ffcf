package git

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"time"
)

// Files remembers small files for whoever wants the same ones again and again: one whose
// stat is as it was is not opened. The zero value is ready, a nil *Files remembers nothing,
// and several goroutines may share one.
type Files struct {
	mu    sync.Mutex
	known map[string]remembered
	now   func() time.Time // for tests; nil = time.Now
}

type remembered struct {
	stat Signature // without a trailer
	data []byte    // nil of an index
	sign Signature // of an index
}

const (
	// settled is how long a file must have been left alone when it is read: a later
	// change within the same tick of the clock, on some file systems within the same
	// second, leaves the same stat.
	settled = 2 * time.Second

	maxRemembered     = 100      // files
	maxRememberedSize = 64 << 10 // bytes of each
)

// Read returns the contents of a regular file of at most limit bytes. They are shared:
// nobody may change them.
func (m *Files) Read(path string, limit int64) ([]byte, error) {
	serves := func(was *remembered) bool { return was.data != nil && int64(len(was.data)) <= limit }
	got, err := m.once(path, serves, func(f *os.File, info fs.FileInfo) (got remembered, err error) {
		tooLarge := fmt.Errorf("%s: larger than %d bytes", path, limit)
		if info.Size() > limit {
			return got, tooLarge
		}
		got.data, err = io.ReadAll(io.LimitReader(f, limit+1))
		if err == nil && int64(len(got.data)) > limit { // it grew
			err = tooLarge
		}
		return got, err
	})
	return got.data, err
}

// IndexSignature returns the signature of the index at path. Fields that a platform
// lacks are zero. A file that does not exist is os.ErrNotExist.
func (m *Files) IndexSignature(path string) (Signature, error) {
	serves := func(was *remembered) bool { return was.data == nil }
	got, err := m.once(path, serves, func(f *os.File, info fs.FileInfo) (got remembered, err error) {
		got.sign, err = sign(f, info)
		return got, err
	})
	if err != nil {
		return Signature{}, fmt.Errorf("read git index: %w", err)
	}
	return got.sign, nil
}

// once returns what is remembered of a regular file, if that serves, and else reads it.
func (m *Files) once(path string, serves func(*remembered) bool, read func(*os.File, fs.FileInfo) (remembered, error)) (got remembered, err error) {
	info, err := statRegular(path)
	if err != nil {
		return got, err
	}
	if was, ok := m.recall(path, info); ok && serves(&was) {
		return was, nil
	}
	began := m.time()
	f, info, err := openStatted(path)
	if err != nil {
		return got, err
	}
	defer f.Close()
	if got, err = read(f, info); err == nil {
		m.remember(path, info, began, got)
	}
	return got, err
}

func (m *Files) time() time.Time {
	if m == nil || m.now == nil {
		return time.Now()
	}
	return m.now()
}

// recall returns what is remembered of a file, if it is as it was.
func (m *Files) recall(path string, now fs.FileInfo) (was remembered, ok bool) {
	if m == nil {
		return was, false
	}
	m.mu.Lock()
	was, ok = m.known[path]
	m.mu.Unlock()
	stat, _ := identify(now)
	return was, ok && was.stat == stat
}

// remember keeps what was read from a file that had this stat before it was read.
func (m *Files) remember(path string, info fs.FileInfo, read time.Time, what remembered) {
	stat, ok := identify(info)
	if m == nil || !ok || len(what.data) > maxRememberedSize || max(stat.MTime, stat.CTime) > read.Add(-settled).UnixNano() {
		return
	}
	what.stat = stat
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known == nil || len(m.known) >= maxRemembered {
		m.known = make(map[string]remembered)
	}
	m.known[path] = what
}
