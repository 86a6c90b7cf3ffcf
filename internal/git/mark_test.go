package git

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A mark changes with whatever comes, goes or is exchanged that Find goes by.
func TestMark(t *testing.T) {
	t.Parallel()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(top, "a", "b")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.MkdirAll(root, 0o755))
	inTop, inRoot := filepath.Join(top, ".git"), filepath.Join(root, ".git")
	last := MarkOf(root)
	for _, step := range []struct {
		name string
		same bool
		do   func() error
	}{
		{"nothing", true, func() error { return nil }},
		{"a repository above", false, func() error { return os.Mkdir(inTop, 0o755) }},
		{"something in it", true, func() error { return os.WriteFile(filepath.Join(inTop, "HEAD"), nil, 0o644) }},
		{"another directory in between", true, func() error { return os.Mkdir(filepath.Join(top, "a", "git"), 0o755) }},
		{"one below it", false, func() error { return os.WriteFile(inRoot, []byte("gitdir: x"), 0o644) }},
		{"that leads elsewhere", false, func() error {
			return os.Chtimes(inRoot, time.Time{}, time.Now().Add(time.Hour))
		}},
		{"and is gone", false, func() error { return os.Remove(inRoot) }},
		{"both are", false, func() error { return os.RemoveAll(inTop) }},
	} {
		must(step.do())
		now := MarkOf(root)
		if now.Same(last) != step.same || last.Same(now) != step.same {
			t.Errorf("%s: same is %t", step.name, !step.same)
		}
		last = now
	}
}
