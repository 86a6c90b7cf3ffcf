package gitstate

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/git"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

func TestMain(m *testing.M) {
	gittest.Prepare()
	m.Run()
}

// world is a repository and a git to change it with.
type world struct {
	*gittest.Oracle
	t   testing.TB
	dir string
}

func newWorld(t testing.TB, args ...string) *world {
	t.Helper()
	gittest.NeedGit(t)
	o := gittest.NewOracle(t)
	w := &world{o, t, o.Init(filepath.Join(t.TempDir(), "w"), args...)}
	return w
}

func (w *world) git(args ...string) string {
	w.t.Helper()
	return strings.TrimSpace(w.In(w.dir, args...))
}

func (w *world) write(name, text string) {
	w.t.Helper()
	path := filepath.Join(w.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) commit(text string) string {
	w.t.Helper()
	w.write("file", text+"\n")
	return w.Commit(w.dir, text)
}

func (w *world) read() *Record { w.t.Helper(); r, _ := w.readFrom(w.dir); return r }

func (w *world) readFrom(dir string) (*Record, Stamps) {
	w.t.Helper()
	repo, err := git.Find(dir)
	if err != nil || repo == nil {
		w.t.Fatalf("no repository at %s: %v", dir, err)
	}
	r, stamps, err := (&Reader{Repo: repo}).Read(context.Background())
	if err != nil {
		w.t.Fatal(err)
	}
	again, err := Parse(r.Parts())
	if err != nil {
		w.t.Fatal(err)
	}
	if was, is := fmt.Sprintf("%q", r.Parts()), fmt.Sprintf("%q", again.Parts()); was != is {
		w.t.Fatalf("parts change when they are parsed:\n%s\n%s", was, is)
	}
	return r, stamps
}

// check compares the refs, HEAD and the stash of a record with the answers of git in dir.
func (w *world) check(dir string, r *Record) {
	w.t.Helper()
	want := make(map[string]string)
	for line := range strings.Lines(w.In(dir, "for-each-ref", "--format=%(refname) %(objectname) %(symref)")) {
		fields := strings.Fields(line)
		if want[fields[0]] = fields[1]; len(fields) == 3 {
			want[fields[0]] = "ref: " + fields[2]
		}
	}
	for name, value := range r.Refs {
		if strings.HasPrefix(value, "ref: ") && want[name] == "" {
			continue // git lists no symbolic ref that leads nowhere
		}
		if want[name] != value {
			w.t.Errorf("ref %s: record has %q, git %q", name, value, want[name])
		}
	}
	for name := range want {
		if r.Refs[name] == "" {
			w.t.Errorf("ref %s is not in the record", name)
		}
	}
	head, err := w.Try(dir, "symbolic-ref", "-q", "HEAD")
	if err == nil {
		head = "ref: " + head
	} else {
		head = w.In(dir, "rev-parse", "HEAD")
	}
	if head = strings.TrimSpace(head); r.Head != head {
		w.t.Errorf("HEAD: record has %q, git %q", r.Head, head)
	}
	commit, _ := w.Try(dir, "rev-parse", "-q", "--verify", "HEAD")
	if commit = strings.TrimSpace(commit); r.Commit() != commit {
		w.t.Errorf("commit: record has %q, git %q", r.Commit(), commit)
	}
	var list []string
	if _, err := w.Try(dir, "rev-parse", "-q", "--verify", "refs/stash"); err == nil {
		list = strings.Fields(w.In(dir, "stash", "list", "--format=%H"))
	}
	kept := stashes(r.Stash)
	if len(kept) != len(list) {
		w.t.Errorf("record has %d stashes, git %d", len(kept), len(list))
	}
	for _, id := range list {
		if !slices.Contains(kept, id) {
			w.t.Errorf("stash %s is not in the record", id)
		}
	}
}

// checkIndex gives git the recorded index and asks what it holds.
func (w *world) checkIndex(r *Record) {
	w.t.Helper()
	want := w.git("ls-files", "--stage", "-v")
	dir := w.t.TempDir()
	for name, data := range r.Files {
		if strings.Contains(name, "index") && !strings.Contains(name, "/") {
			if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
				w.t.Fatal(err)
			}
		}
	}
	cmd := filepath.Join(dir, "index")
	if got := strings.TrimSpace(w.withIndex(cmd, "ls-files", "--stage", "-v")); got != want {
		w.t.Errorf("recorded index:\n%s\nindex:\n%s", got, want)
	}
}

// withIndex runs git with the index at path, beside whose file a shared index lies.
func (w *world) withIndex(path string, args ...string) string {
	w.t.Helper()
	saved := filepath.Join(w.dir, ".git", "index.saved")
	real := filepath.Join(w.dir, ".git", "index")
	must := func(err error) {
		w.t.Helper()
		if err != nil {
			w.t.Fatal(err)
		}
	}
	must(os.Rename(real, saved))
	data, err := os.ReadFile(path)
	must(err)
	must(os.WriteFile(real, data, 0o644))
	out := w.In(w.dir, args...)
	must(os.Rename(saved, real))
	return out
}
