package git

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"time"
)

// Files caches small files that are read again and again: a file with an unchanged stat is not
// opened. The zero value is ready. A nil *Files caches nothing. Several goroutines may share one.
type Files struct {
	mu    sync.Mutex
	known map[string]remembered
	now   func() time.Time // for tests; nil = time.Now
}

type remembered struct {
	stat Signature // without a trailer
	data []byte    // nil for an index
	sign Signature // of an index
}

const (
	// settled is the least age of a file at the time of its read for the cache to hold it. A later
	// change within the same tick of the clock, on some file systems within the same second, leaves
	// the same stat.
	settled = 2 * time.Second

	maxRemembered     = 100      // files
	maxRememberedSize = 64 << 10 // bytes of each
)

// Read returns the contents of a regular file of at most limit bytes. The contents are shared: the
// caller must not change them.
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

// once returns the cached result for a regular file if serves accepts it, else reads the file.
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

// recall returns the cached result if the file's stat is unchanged.
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

// remember caches the result of a read. info is the file's stat before the read.
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
