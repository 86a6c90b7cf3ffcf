package watch

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// TestMounts: changes for which the kernel sends no event to watched directories.
func TestMounts(t *testing.T) {
	if !gittest.Isolated(t) {
		return
	}
	const changed = "all: a file system was mounted or unmounted"
	for name, test := range map[string]struct {
		before, do func(at func(string) string) error
		want       string
	}{
		"over a directory": {do: func(at func(string) string) error { return tmpfs(at("a")) }, want: changed},
		"over the root":    {do: func(at func(string) string) error { return tmpfs(at("")) }, want: "all: another directory has taken the root's place"},
		"above the root":   {do: func(at func(string) string) error { return bind(at("../.."), at("../..")) }, want: changed},
		"elsewhere":        {do: func(at func(string) string) error { return tmpfs(at("../elsewhere")) }},
		"next to the root": {do: func(at func(string) string) error { return tmpfs(at("../root2")) }},
		"unmounted": {
			before: func(at func(string) string) error { return tmpfs(at("a")) },
			do:     func(at func(string) string) error { return unix.Unmount(at("a"), 0) }, want: changed,
		},
		"mounted and unmounted": {do: func(at func(string) string) error {
			return errors.Join(tmpfs(at("a")), unix.Unmount(at("a"), 0), os.WriteFile(at("a/x"), nil, 0o644))
		}, want: "a: x"},
		"replaced by another": {
			before: func(at func(string) string) error { return tmpfs(at("a")) },
			do:     func(at func(string) string) error { return errors.Join(unix.Unmount(at("a"), 0), tmpfs(at("a"))) },
			want:   changed,
		},
		"a name with blanks": {
			before: func(at func(string) string) error { return os.Mkdir(at("c/b \\ \t"), 0o755) },
			do:     func(at func(string) string) error { return tmpfs(at("c/b \\ \t")) }, want: changed,
		},
		"a directory in two places": {
			before: func(at func(string) string) error { return bind(at("a/b"), at("c")) },
			do:     func(at func(string) string) error { return os.WriteFile(at("c/y"), []byte("two"), 0o644) },
			want:   "a/b: y; c: y",
		},
		"a directory made in two places": {
			before: func(at func(string) string) error { return bind(at("a/b"), at("c")) },
			do:     func(at func(string) string) error { return os.Mkdir(at("a/b/new"), 0o755) },
			want:   "a/b: new; c: new; new: a/b/new; new: c/new",
		},
		"a file on a file": {
			before: func(at func(string) string) error {
				return errors.Join(os.WriteFile(at("../elsewhere/f"), nil, 0o644), bind(at("../elsewhere/f"), at("a/b/y")))
			},
			do:   func(at func(string) string) error { return os.WriteFile(at("../elsewhere/f"), []byte("two"), 0o644) },
			want: "a/b: y",
		},
	} {
		t.Run(name, func(t *testing.T) {
			root, w := watched(t)
			at := func(path string) string { return filepath.Join(root, path) }
			for _, dir := range []string{"../elsewhere", "../root2"} {
				must(t, os.Mkdir(at(dir), 0o755))
			}
			t.Cleanup(func() { unmountAll(root) })
			if test.before != nil {
				must(t, test.before(at))
				w.Changes()
				for _, dir := range []string{"", "a", "a/b", "c"} {
					if _, err := os.Stat(at(dir)); err == nil {
						add(t, w, root, dir)
					}
				}
			}
			must(t, test.do(at))
			if got := text(w.Changes()); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func tmpfs(dir string) error { return unix.Mount("cairn-test", dir, "tmpfs", 0, "") }

func bind(from, to string) error { return unix.Mount(from, to, "", unix.MS_BIND, "") }

func unmountAll(root string) {
	for _, dir := range []string{"a", "c", "a/b/y", "c/b \\ \t", "", "../elsewhere", "../root2", "../.."} {
		for unix.Unmount(filepath.Join(root, dir), unix.MNT_DETACH) == nil {
		}
	}
}

// TestMountsFromElsewhere: a network file system inside the tree is not watched, and a caller that
// wants to watch it gets an error. overlayfs stands for one.
func TestMountsFromElsewhere(t *testing.T) {
	if !gittest.Isolated(t) {
		return
	}
	root, w := watched(t)
	over := filepath.Join(root, "c")
	t.Cleanup(func() { unix.Unmount(over, unix.MNT_DETACH) })
	lower := t.TempDir()
	if err := unix.Mount("cairn-test", over, "overlay", 0, fmt.Sprintf("lowerdir=%s:%s", lower, t.TempDir())); err != nil {
		t.Skipf("overlayfs cannot be mounted here: %v", err)
	}
	if c := w.Changes(); !c.All {
		t.Errorf("mounted: %q", text(c))
	}
	add(t, w, root, "a")
	f, err := os.Open(over)
	must(t, err)
	defer f.Close()
	if err := w.Add("c", f); !errors.Is(err, ErrUnsupported) {
		t.Errorf("watching gives %v", err)
	}
	if w, err := New(over); !errors.Is(err, ErrUnsupported) {
		t.Errorf("as root it gives %v, %v", w, err)
	}
}

// TestLocal: only file systems that are known to be local are watched.
func TestLocal(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		kind   uint32
		remote bool
	}{
		"ext4":   {unix.EXT4_SUPER_MAGIC, false},
		"zfs":    {0x2fc12fc1, false},
		"nfs":    {unix.NFS_SUPER_MAGIC, true},
		"fuse":   {unix.FUSE_SUPER_MAGIC, true},
		"9p":     {unix.V9FS_MAGIC, true},
		"cifs":   {unix.CIFS_SUPER_MAGIC, true},
		"vboxsf": {0x786f4256, true},
		"prl_fs": {0x7c7c6673, true},
		"lustre": {0x0bd00bd0, true},
		"gfs2":   {0x01161970, true},
		"aufs":   {0x61756673, true},
		"new":    {0x12345678, true},
	} {
		if got := remoteType(test.kind); got != test.remote {
			t.Errorf("%s: remote is %v", name, got)
		}
	}
}

// TestUnescape: the table's form of names.
func TestUnescape(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"/plain": "/plain", `/a\040b`: "/a b", `/\134040`: `/\040`, `/\011\012`: "/\t\n", `/short\04`: `/short\04`, `/no\089`: `/no\089`, `/\377`: "/\xff",
	} {
		if got := unescape(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}
