package webui

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-fb9cbc17/cairn"
)

// readingRepo counts how often each file is read.
type readingRepo struct {
	Repo
	mu    sync.Mutex
	reads map[string]int
}

func (r *readingRepo) note(path string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reads[path]++
}

func (r *readingRepo) CountLines(c *cairn.Change, opt cairn.DiffOptions) (int, int, string, error) {
	r.note(c.Path)
	return r.Repo.CountLines(c, opt)
}

func (r *readingRepo) FileDiffs(ctx context.Context, list []cairn.Change, opt cairn.DiffOptions) iter.Seq2[cairn.FileDiff, error] {
	for i := range list {
		r.note(list[i].Path)
	}
	return r.Repo.FileDiffs(ctx, list, opt)
}

// A page reads every file once, for its numbers and its lines.
func TestFilesAreReadOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	want := make(map[string]int)
	for i := range inlineFiles + 5 {
		name := fmt.Sprintf("f%03d", i)
		f.write(name, numbered(i))
		want[name] = 1
	}
	from := f.track("")
	for name := range want {
		f.write(name, name+"\n"+f.read(name)+name+"\n")
	}
	f.write("long", numbered(2*inlineLines))
	want["long"] = 1
	to := f.track("")
	reading := &readingRepo{Repo: f.repo, reads: make(map[string]int)}
	f.source = reading
	for _, address := range []string{
		f.at("changes", "from", from, "to", to), f.at("plan", "do", "revert", "from", from, "to", to), f.at("plan", "do", "restore", "to", from),
	} {
		clear(reading.reads)
		f.get(address).want(http.StatusOK, "f044", "800<")
		if diff := cmp.Diff(want, reading.reads); diff != "" {
			t.Errorf("%s: %s", address, diff)
		}
	}
	clear(reading.reads)
	f.get(f.at("changes", "from", from, "to", to, "file", "long")).want(http.StatusOK, "line 800")
	if reading.reads["long"] != 1 {
		t.Errorf("the file on its own page is read %d times", reading.reads["long"])
	}
}
