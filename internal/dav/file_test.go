package dav

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"golang.org/x/net/webdav"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// huge is a source of bytes that no memory holds. It notes what was read of it.
type huge struct {
	size, at, read int64
	opened, closed int
	blank          bool  // all bytes are 0, for tests of amounts
	fail           int64 // from this offset, reads fail; 0 = never
}

func (h *huge) Read(p []byte) (int, error) {
	if h.at >= h.size {
		return 0, io.EOF
	}
	n := min(int64(len(p)), h.size-h.at)
	clear(p[:n])
	for i := range p[:n] {
		if h.blank {
			break
		}
		p[i] = byte((h.at + int64(i)) >> 10)
	}
	h.at, h.read = h.at+n, h.read+n
	if h.fail > 0 && h.at >= h.fail {
		return int(n), errDamaged
	}
	return int(n), nil
}

func (h *huge) Close() error { h.closed++; return nil }

var errDamaged = errors.New("damaged")

// one is a directory with one file.
type one struct{ *node }

func (o one) list() ([]*node, error) { return []*node{o.node}, nil }
func (o one) find(name string) (*node, error) {
	if name != o.name {
		return nil, absent(name)
	}
	return o.node, nil
}

func serveHuge(t *testing.T, h *huge, readers *Readers) (get func(rang string, w http.ResponseWriter) *FS) {
	t.Helper()
	n := &node{name: "huge.bin", size: h.size, mode: object.Regular, id: object.ID{1}, time: time.Unix(1e9, 0)}
	n.open = func() (io.ReadCloser, error) { h.opened++; h.at = 0; return h, nil }
	return func(rang string, w http.ResponseWriter) *FS {
		files := New(t.Context(), Projects{}, readers, nil)
		files.top = one{n}
		r := httptest.NewRequest("GET", "/huge.bin", nil)
		if rang != "" {
			r.Header.Set("Range", rang)
		}
		w.Header().Set("Content-Type", "application/octet-stream")
		(&webdav.Handler{FileSystem: files, LockSystem: webdav.NewMemLS()}).ServeHTTP(w, r)
		return files
	}
}

// counter is an answer that holds nothing. It notes how far the source was ahead of it.
type counter struct {
	header  http.Header
	source  *huge
	status  int
	written int64
	ahead   int64
}

func (c *counter) Header() http.Header    { return c.header }
func (c *counter) WriteHeader(status int) { c.status = status }
func (c *counter) Write(p []byte) (int, error) {
	c.ahead = max(c.ahead, c.source.read-c.written)
	c.written += int64(len(p))
	return len(p), nil
}

// TestGigabyte: a file of 1 GB passes through without more than a buffer of it in between.
func TestGigabyte(t *testing.T) {
	t.Parallel()
	h := &huge{size: 1 << 30, blank: true}
	c := &counter{header: make(http.Header), source: h}
	readers := &Readers{}
	if err := serveHuge(t, h, readers)("", c).Err(); err != nil {
		t.Fatal(err)
	}
	if c.written != h.size || h.read != h.size || c.status != 200 {
		t.Errorf("status %d, %d of %d bytes written, %d read", c.status, c.written, h.size, h.read)
	}
	if c.ahead > 64<<10 {
		t.Errorf("the source was %d bytes ahead", c.ahead)
	}
	if h.opened != 1 || h.closed != 1 {
		t.Errorf("opened %d times, closed %d times", h.opened, h.closed)
	}
}

// TestRangesInARow: ranges that follow each other read every byte once; one that goes back begins again.
func TestRangesInARow(t *testing.T) {
	t.Parallel()
	const size, part = 16 << 20, 4 << 20
	h := &huge{size: size}
	readers := &Readers{}
	get := serveHuge(t, h, readers)
	want := func(from, to int64) {
		t.Helper()
		w := httptest.NewRecorder()
		if err := get(fmt.Sprintf("bytes=%d-%d", from, to), w).Err(); err != nil {
			t.Fatal(err)
		}
		if w.Code != http.StatusPartialContent || int64(w.Body.Len()) != to-from+1 {
			t.Fatalf("status %d, %d bytes", w.Code, w.Body.Len())
		}
		expected, other := make([]byte, to-from+1), &huge{size: size, at: from}
		if _, err := io.ReadFull(other, expected); err != nil || !bytes.Equal(expected, w.Body.Bytes()) {
			t.Fatalf("other bytes at %d", from)
		}
	}
	for at := int64(0); at < size; at += part {
		want(at, at+part-1)
	}
	if h.read != size || h.opened != 1 || h.closed != 1 {
		t.Errorf("%d bytes read of %d, opened %d times, closed %d times", h.read, size, h.opened, h.closed)
	}
	want(100, 199)
	want(100, 199) // behind the reader that waits
	if h.opened != 3 {
		t.Errorf("opened %d times", h.opened)
	}
	if err := readers.CloseIdle(time.Now().Add(time.Hour)); err != nil || h.closed != h.opened {
		t.Errorf("closed %d of %d, %v", h.closed, h.opened, err)
	}
}

// TestReadersHaveALimit: those that wait longest are closed first, and all of them at the end.
func TestReadersHaveALimit(t *testing.T) {
	t.Parallel()
	readers := &Readers{}
	sources := make([]huge, maxParked+2)
	for i := range sources {
		readers.park(&reader{ReadCloser: &sources[i], id: object.ID{byte(i)}, size: 8 << 20, at: 1})
	}
	if sources[0].closed != 1 || sources[1].closed != 1 || sources[2].closed != 0 {
		t.Error("the wrong readers were closed")
	}
	if err := readers.Close(); err != nil {
		t.Fatal(err)
	}
	late := &huge{}
	readers.park(&reader{ReadCloser: late, size: 8 << 20, at: 1})
	for i := range sources {
		if sources[i].closed != 1 {
			t.Errorf("%d was closed %d times", i, sources[i].closed)
		}
	}
	if late.closed != 1 {
		t.Error("a reader waits after the end")
	}
}

// TestDamageShows: an answer with damaged contents is too short, and the error is known.
func TestDamageShows(t *testing.T) {
	t.Parallel()
	h := &huge{size: 4 << 20, fail: 4 << 20}
	w := httptest.NewRecorder()
	files := serveHuge(t, h, &Readers{})("", w)
	if !errors.Is(files.Err(), errDamaged) || int64(w.Body.Len()) >= h.size {
		t.Errorf("%v after %d bytes", files.Err(), w.Body.Len())
	}
	if h.closed != 1 {
		t.Error("the reader that failed waits for a next range")
	}
}

// TestClientGone: a range far ahead is not looked for once its client has gone.
func TestClientGone(t *testing.T) {
	t.Parallel()
	h := &huge{size: 1 << 30}
	n := &node{name: "x", size: h.size, open: func() (io.ReadCloser, error) { return h, nil }}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	f := &file{ctx: ctx, fs: New(ctx, Projects{}, &Readers{}, nil), node: n}
	if _, err := f.Seek(-1, io.SeekEnd); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Read(make([]byte, 1)); !errors.Is(err, context.Canceled) || h.read != 0 {
		t.Errorf("%v after %d bytes", err, h.read)
	}
}

// TestNothingIsWritten: the file system refuses every change by itself.
func TestNothingIsWritten(t *testing.T) {
	t.Parallel()
	files := New(t.Context(), Projects{List: []Project{{ID: "0123456789abcdef", Root: "/"}}}, &Readers{}, nil)
	for what, err := range map[string]error{
		"mkdir": files.Mkdir(t.Context(), "/x", 0o755), "remove": files.RemoveAll(t.Context(), "/root-0123456789abcdef"),
		"rename": files.Rename(t.Context(), "/a", "/b"),
	} {
		if !errors.Is(err, os.ErrPermission) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, flag := range []int{os.O_WRONLY, os.O_RDWR, os.O_RDONLY | os.O_CREATE} {
		if _, err := files.OpenFile(t.Context(), "/root-0123456789abcdef", flag, 0o644); !errors.Is(err, os.ErrPermission) {
			t.Errorf("open %#x: %v", flag, err)
		}
	}
	if _, err := files.Find("/none"); !errors.Is(err, cairn.ErrNotFound) {
		t.Error(err)
	}
}
