package outside

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/statetest"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/apply"
)

func TestMain(m *testing.M) {
	gittest.Prepare()
	m.Run()
}

func succeed(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// place is a new directory by the name that it has on disk.
func place(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	succeed(t, err)
	return dir
}

// TestLook: a regular file, a symlink and nothing are read; all else is left, with the reason.
func TestLook(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("links of Unix")
	}
	dir := place(t)
	at := func(name string) string { return filepath.Join(dir, name) }
	succeed(t, os.WriteFile(at("file"), []byte("12345"), 0o640), os.Chmod(at("file"), 0o640), os.Symlink("file", at("link")), os.Mkdir(at("dir"), 0o700), os.Symlink("dir", at("way")))
	for name, want := range map[string]Entry{
		"file":      {Mode: object.Regular, Perm: 0o640, ID: object.Sum(object.Blob, []byte("12345")).String()},
		"link":      {Mode: object.Symlink, ID: object.Sum(object.Blob, []byte("file")).String()},
		"none":      {},
		"dir/none":  {},
		"no/none":   {},
		"dir":       {Left: leftDir},
		"way/none":  {Left: leftBelow},
		"file/none": {Left: leftBelow},
		".git/x":    {Left: leftName},
	} {
		want.Path = state.Path(at(name))
		if got := readSight(at(name), 5); got.Entry != want {
			t.Errorf("%s: %+v, want %+v", name, got.Entry, want)
		}
	}
	if got := readSight(at("file"), 4); got.Left != leftLarge || got.ID != "" {
		t.Errorf("a file above the limit: %+v", got.Entry)
	}
	if got := readSight(os.DevNull, 5); got.Left != leftSpecial {
		t.Errorf("a device: %+v", got.Entry)
	}
	if !readSight(at("no/none"), 5).alone || readSight(at("dir/none"), 5).alone {
		t.Error("whether the directory is there is not known")
	}
}

// TestSecret: files with credentials by their place and name, in any case of letters.
func TestSecret(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]bool{
		"/home/me/.ssh/config": true, "/home/me/.SSH/id": true, "/home/me/.aws/credentials": true, "/home/me/.config/gh/hosts.yml": true,
		"/x/server.pem": true, "/x/SERVER.KEY": true, "/x/id_ed25519.pub": true, "/x/.env": true, "/x/.env.local": true, "/x/.netrc": true,
		"/home/me/.docker/config.json": true, "/etc/shadow": true, "/x/.git-credentials": true,
		"/x/config.json": false, "/x/environment": false, "/x/keys.go": false, "/x/.sshrc": false, "/etc/hosts": false, "/home/me/notes": false,
	} {
		if Secret(path) != want {
			t.Errorf("%s: %v", path, !want)
		}
	}
}

// TestPlace: links above a path are resolved; paths of the system, of no file and of no root are none.
func TestPlace(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("paths of Unix")
	}
	dir := place(t)
	succeed(t, os.Mkdir(filepath.Join(dir, "d"), 0o700), os.Symlink("d", filepath.Join(dir, "way")))
	for path, want := range map[string]string{
		filepath.Join(dir, "way", "x"): filepath.Join(dir, "d", "x"), filepath.Join(dir, "way"): filepath.Join(dir, "way"),
		filepath.Join(dir, "way", "..", "y"): filepath.Join(dir, "y"), filepath.Join(dir, "no", "z"): filepath.Join(dir, "no", "z"),
		"/": "", "relative": "", "": "", "/proc/self/mem": "", "/sys/x": "", "/dev/null": "", "/x\x00y": "",
	} {
		if got := Place(path); got != want {
			t.Errorf("%q is %q, want %q", path, got, want)
		}
	}
}

// TestRecords: a record comes back as it was written. One that is not there is nil, a damaged one an error.
func TestRecords(t *testing.T) {
	t.Parallel()
	s := statetest.NewStore(t)
	batch := s.DB.NewBatch()
	defer batch.Discard()
	id, err := batch.Add(object.Blob, []byte("x"))
	succeed(t, err)
	r := Record{Before: []Entry{{Path: "/a\xff", Mode: object.Executable, Perm: 0o755, ID: id.String()}, {Path: "/b", Left: leftLarge}}, After: []Entry{{Path: "/a\xff"}}}
	ref, err := Add(s.DB, batch, r)
	succeed(t, err, batch.Commit(ref))
	got, err := Read(s, ref.ID.String())
	if err != nil || len(got.Before) != 2 || got.Before[0] != r.Before[0] || got.Before[1] != r.Before[1] || got.After[0] != r.After[0] {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := Read(s, object.EmptyTree.String()); got != nil || err != nil {
		t.Errorf("no record: %+v, %v", got, err)
	}
	succeed(t, s.DB.SetRef(history.RefOutside+object.EmptyTree.String(), id))
	if got, err := Read(s, object.EmptyTree.String()); err == nil {
		t.Errorf("a ref to a blob: %+v", got)
	}
}

// TestPlanID: plans that differ in modes alone have different ids.
func TestPlanID(t *testing.T) {
	t.Parallel()
	seen := make(map[string]int)
	perms := []state.Octal{0o600, 0o644, 0o755}
	for _, before := range perms {
		for _, after := range perms {
			step := Step{Change: apply.Change{Action: apply.Chmod}, Before: Entry{Path: "/x", Mode: object.Regular, Perm: before}, After: Entry{Path: "/x", Mode: object.Regular, Perm: after}}
			seen[(&Plan{Steps: []Step{step}}).ID()]++
		}
	}
	if len(seen) != 9 {
		t.Errorf("%d ids of 9 plans", len(seen))
	}
}
