package webui

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
)

// forked makes a fork of the project with changes, and returns it opened.
func (f *fixture) forked(name string, changes map[string]string) *cairn.Repo {
	f.t.Helper()
	made, err := f.repo.Fork(f.t.Context(), filepath.Join(f.t.TempDir(), name), cairn.ForkOptions{})
	if err != nil {
		f.t.Fatal(err)
	}
	for path, text := range changes {
		if err := os.WriteFile(filepath.Join(string(made.Dir), path), []byte(text), 0o644); err != nil {
			f.t.Fatal(err)
		}
	}
	repo, err := cairn.Open(cairn.Options{Root: string(made.Dir), DataDir: filepath.Dir(filepath.Dir(f.repo.StoreDir())), NoSync: true})
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { repo.Close() })
	f.others = append(f.others, repo)
	return repo
}

// TestForks: the page lists the forks, what each changed, and leads to a comparison. A fork whose directory is
// gone is listed and leads nowhere.
func TestForks(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("a.txt", "one\n")
	f.write("b.txt", "one\n")
	f.track("first")
	f.get(f.at("forks")).want(http.StatusOK, "No fork yet", "cairn fork ../try")
	f.get(f.at("changes", "from", "@")).want(http.StatusOK, `href="`+f.at("forks")+`"`)
	f.get(f.at("compare")).want(http.StatusOK, `href="`+f.at("forks")+`"`)

	one := f.forked("try <one>", map[string]string{"a.txt": "two\n", "new.txt": "n\n"})
	f.get(f.at("forks")).want(http.StatusOK, "try &lt;one&gt;", "2 paths changed, 2 not merged", "just now", f.at("compare", "dir", cairn.ProjectID(one.Root()))).lacks("Compare all")
	f.get(f.at("compare", "dir", cairn.ProjectID(one.Root()))).want(http.StatusOK, "try &lt;one&gt;", "a.txt", "new.txt")

	idle := f.forked("idle", nil)
	gone := f.forked("gone", nil)
	if err := os.RemoveAll(gone.Root()); err != nil {
		t.Fatal(err)
	}
	if _, err := f.repo.Merge(t.Context(), cairn.MergeSource{Repo: one, Checkpoint: f.trackOf(one)}, cairn.MergeOptions{}); err != nil {
		t.Fatal(err)
	}
	f.get(f.at("forks")).want(http.StatusOK, "2 paths changed, all merged", "nothing changed", "the directory is gone", "Compare all").lacks(cairn.ProjectID(gone.Root()))
	f.get(f.at("compare", "dir", cairn.ProjectID(one.Root()), "dir", cairn.ProjectID(idle.Root()))).want(http.StatusOK, "idle", "Nothing changed there")
}

func (f *fixture) trackOf(repo *cairn.Repo) string {
	f.t.Helper()
	t, err := repo.Track(f.t.Context(), cairn.TrackOptions{})
	if err != nil {
		f.t.Fatal(err)
	}
	return t.Checkpoint
}
