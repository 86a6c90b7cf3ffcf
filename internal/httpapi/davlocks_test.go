package httpapi

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// TestDavHasNoLocks: no file claims to be lockable, whichever way the properties are asked for.
func TestDavHasNoLocks(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("a"), "<D:lockentry xmlns:D=": gittest.File("b")})
	f.track()
	for _, body := range []string{"", `<propfind xmlns="DAV:"><allprop/></propfind>`, `<propfind xmlns="DAV:"><prop><supportedlock/><displayname/></prop></propfind>`} {
		r := request(t, "PROPFIND", "/dav/@/", body)
		r.Header.Set("Depth", "1")
		got := call(t, f.door, r).want(t, http.StatusMultiStatus, nil)
		if text := string(got.body); strings.Contains(text, "lockentry>") || !strings.Contains(text, "supportedlock") || !strings.Contains(text, "&lt;D:lockentry") {
			t.Errorf("%q: %s", body, text)
		}
	}
}

// TestLockless takes entries out however the answer is cut into pieces.
func TestLockless(t *testing.T) {
	t.Parallel()
	whole := "<a>" + lockEntry + "<b/>" + lockEntry + lockEntry + lockEntry[:40] + "</a>" + lockEntry[:5]
	want := strings.ReplaceAll(whole, lockEntry, "")
	for size := 1; size <= len(whole); size++ {
		rec := httptest.NewRecorder()
		w := &lockless{ResponseWriter: rec}
		for rest := whole; rest != ""; {
			n := min(size, len(rest))
			if done, err := w.Write([]byte(rest[:n])); done != n || err != nil {
				t.Fatal(done, err)
			}
			rest = rest[n:]
		}
		if w.end(); rec.Body.String() != want {
			t.Errorf("in pieces of %d: %q", size, rec.Body)
		}
	}
}

// heapWatcher is an answer that holds nothing and notes how large the heap becomes.
type heapWatcher struct {
	header       http.Header
	written, due int64
	most         uint64
}

func (h *heapWatcher) Header() http.Header { return h.header }
func (h *heapWatcher) WriteHeader(int)     {}
func (h *heapWatcher) Write(p []byte) (int, error) {
	if h.written += int64(len(p)); h.written >= h.due {
		h.due += 64 << 20
		h.most = max(h.most, liveHeap())
	}
	return len(p), nil
}

// liveHeap is the number of bytes that are in use after a collection.
func liveHeap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestDavGigabyte: a file of 1 GB of a store, whole and in ranges, takes no more memory than a small one.
// It runs alone: the heap is that of all tests.
func TestDavGigabyte(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: a file of 1 GB is captured and read")
	}
	f := newFixture(t, gittest.Tree{"small": gittest.File("s")}, func(o *Options) {
		o.Settings = func(root string) (cairn.Options, error) {
			return cairn.Options{Root: root, DataDir: filepath.Join(filepath.Dir(root), "data"), NoSync: true, MaxFileSize: 2 << 30}, nil
		}
	})
	const size = 1 << 30
	f.write("big", "")
	if err := os.Truncate(filepath.Join(f.root, "big"), size); err != nil {
		t.Fatal(err)
	}
	f.track()
	before := liveHeap()
	w := &heapWatcher{header: make(http.Header)}
	f.door.ServeHTTP(w, request(t, "GET", "/dav/@/big", nil))
	if w.written != size {
		t.Errorf("%d of %d bytes", w.written, size)
	}
	r := request(t, "GET", "/dav/@/big", nil)
	r.Header.Set("Range", "bytes=900000000-900000009")
	f.door.ServeHTTP(w, r)
	if w.written != size+10 {
		t.Errorf("%d bytes with the range", w.written)
	}
	if most := max(w.most, liveHeap()); most > before+16<<20 {
		t.Errorf("the heap grew from %d to %d bytes", before, most)
	}
}
