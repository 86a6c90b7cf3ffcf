package cairn_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
)

// manyLoose is above the number of blobs from which on loose ones are borrowed.
const manyLoose = 1100

// looseFixture is a root with a clean repository of manyLoose files, none of them packed.
func looseFixture(t *testing.T) (*fixture, *gittest.Oracle) {
	t.Helper()
	o := gittest.NewOracle(t)
	looseLender.once.Do(func() {
		tree := gittest.Tree{"link": gittest.Link("d0/f0"), "run": gittest.Exec("#!/bin/sh\n"), "twin": gittest.File("file 1\n")}
		for i := range manyLoose {
			tree[fmt.Sprintf("d%d/f%d", i%7, i)] = gittest.File(fmt.Sprintf("file %d\n%s", i, strings.Repeat("line\n", i%30)))
		}
		gittest.Create(t, looseLender.dir, tree)
		o.Init(looseLender.dir)
		o.In(looseLender.dir, "config", "maintenance.auto", "false") // a newer git packs them at once
		o.Commit(looseLender.dir, "one")
	})
	f := newFixture(t, nil)
	gittest.CopyTree(t, looseLender.dir, f.root)
	o.In(f.root, "update-index", "-q", "--refresh")
	f.ageIndex(".git/index")
	return f, o
}

// looseObjects counts the loose objects of the store.
func (f *fixture) looseObjects() int {
	f.Helper()
	db, err := odb.Open(f.repo().StoreDir(), "", odb.Options{})
	if err != nil {
		f.Fatal(err)
	}
	defer db.Close()
	ids, err := db.LooseObjects()
	if err != nil {
		f.Fatal(err)
	}
	return len(ids)
}

// Loose objects are linked as they are, whatever becomes of the repository afterwards.
func TestBorrowLoose(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	for name, harm := range map[string]func(f *fixture, o *gittest.Oracle){
		"nothing": func(*fixture, *gittest.Oracle) {},
		"gc":      func(f *fixture, o *gittest.Oracle) { o.In(f.root, "gc", "-q", "--prune=now") },
		"removed": func(f *fixture, _ *gittest.Oracle) { f.remove(".git") },
		"cleaned": func(f *fixture, _ *gittest.Oracle) {
			f.remove(".git")
			if _, err := f.repo().Clean(f.Context(), cairn.CleanOptions{Retention: cairn.Retention{KeepLast: 9}}); err != nil {
				f.Fatal(err)
			}
			if n := f.looseObjects(); n != 0 {
				f.Errorf("%d loose objects after a cleaning without a lender", n)
			}
		},
		"cleaned beside the lender": func(f *fixture, _ *gittest.Oracle) {
			before := f.looseObjects()
			if _, err := f.repo().Clean(f.Context(), cairn.CleanOptions{Retention: cairn.Retention{KeepLast: 9}}); err != nil {
				f.Fatal(err)
			}
			if n := f.looseObjects(); n != before {
				f.Errorf("%d loose objects after a cleaning, %d before", n, before)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, o := looseFixture(t)
			f.T = t
			want := f.manifest()
			hash := f.trackAll()
			if tree := o.WriteTree(f.root); hash != tree {
				t.Errorf("tree %s, git says %s", hash, tree)
			}
			if n := f.looseObjects(); n < manyLoose {
				t.Errorf("%d loose objects are borrowed", n)
			}
			harm(f, o)
			f.remove("d1")
			f.remove("twin")
			f.write("d2/f2", "edited\n")
			f.restoreAll(hash)
			if diff := gittest.Diff(outsideGit(want), outsideGit(f.manifest())); diff != "" {
				t.Error(diff)
			}
			o.Fsck(f.repo().StoreDir())
		})
	}
}

// TestBorrowLooseForGit: what the store borrows is linked once. Git's commits survive the repository,
// and the checkpoint for which their files were borrowed.
func TestBorrowLooseForGit(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	f, o := looseFixture(t)
	a := &aged{f, time.Now()}
	head := strings.TrimSpace(o.In(f.root, "rev-parse", "HEAD"))
	a.trackAgo(60*time.Hour, "")
	vault := filepath.Join(f.repo().StoreDir(), "cairn", "kept")
	own, err := filepath.Glob(filepath.Join(vault, "objects", "[0-9a-f][0-9a-f]", "*"))
	if err != nil || len(own) == 0 || len(own) > manyLoose/10 {
		t.Errorf("beside the store's %d objects the vault has %d (%v)", f.looseObjects(), len(own), err)
	}
	for i := range 7 {
		f.remove(fmt.Sprint("d", i))
	}
	a.trackAgo(time.Hour, "young")
	f.remove(".git")
	for range 2 {
		a.clean(cairn.CleanOptions{Retention: cairn.Retention{MaxAge: 30 * time.Hour, KeepLast: 1}})
	}
	if n := f.looseObjects(); n != 0 {
		t.Errorf("the store still has %d loose objects", n)
	}
	o.In(vault, "rev-list", "--objects", head)
	o.Fsck(f.repo().StoreDir())
}

// What must not be borrowed is read instead, and every capture is exact.
func TestBorrowLooseTraps(t *testing.T) {
	t.Parallel()
	gittest.Long(t)
	for name, trap := range map[string]func(f *fixture, o *gittest.Oracle){
		"edited": func(f *fixture, _ *gittest.Oracle) { f.write("d0/f0", "FILE 0\n") },
		"line ends": func(f *fixture, o *gittest.Oracle) {
			f.write(".gitattributes", "* text=auto\n")
			f.write("crlf/f", "one\r\ntwo\r\n")
			o.In(f.root, "add", "-A")
		},
		"objects that can be written to": func(f *fixture, _ *gittest.Oracle) {
			f.eachObject(func(path string) error { return os.Chmod(path, 0o644) })
		},
		"empty objects, as after a loss of power": func(f *fixture, _ *gittest.Oracle) {
			f.eachObject(func(path string) error {
				if err := os.Remove(path); err != nil {
					return err
				}
				return os.WriteFile(path, nil, 0o444)
			})
		},
		"objects gone":      func(f *fixture, _ *gittest.Oracle) { f.eachObject(os.Remove) },
		"deny list":         func(f *fixture, _ *gittest.Oracle) { f.opt.Never = []string{"*.pem"} },
		"without borrowing": func(f *fixture, _ *gittest.Oracle) { f.opt.NoBorrow = true },
		"SHA-256": func(f *fixture, o *gittest.Oracle) {
			f.remove(".git")
			o.In(f.root, "init", "-q", "--object-format=sha256")
			o.In(f.root, "add", "-A")
		},
		"objects of a store that lends": func(f *fixture, o *gittest.Oracle) {
			at := filepath.Join(f.TempDir(), "clone")
			o.In(f.root, "clone", "-q", "--shared", ".", at)
			f.root, f.opt.Root = at, at
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, o := looseFixture(t)
			f.T = t
			trap(f, o)
			f.ageIndex(".git/index")
			f.trackedExactly()
			o.Fsck(f.repo().StoreDir())
			switch n := f.looseObjects(); name {
			case "edited", "line ends", "objects of a store that lends":
				if n < manyLoose-1 {
					t.Errorf("%d loose objects are borrowed", n)
				}
			default:
				if n != 0 {
					t.Errorf("%d loose objects are borrowed", n)
				}
			}
		})
	}
}

// eachObject calls do with the loose object of every blob of the user's repository.
func (f *fixture) eachObject(do func(path string) error) {
	f.Helper()
	paths, err := filepath.Glob(f.path(".git/objects/[0-9a-f][0-9a-f]/*"))
	if err != nil || len(paths) < manyLoose {
		f.Fatalf("%d objects: %v", len(paths), err)
	}
	for _, path := range paths {
		if err := do(path); err != nil {
			f.Fatal(err)
		}
	}
}

// A damaged object is found when it is read: no wrong byte comes back.
func TestBorrowLooseDamaged(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	f, o := looseFixture(t)
	id := strings.TrimSpace(o.In(f.root, "rev-parse", "HEAD:d3/f24"))
	path := f.path(".git/objects/" + id[:2] + "/" + id[2:])
	data, err := os.ReadFile(path)
	if err == nil {
		data[len(data)-1] ^= 1 // of the checksum
		err = os.Remove(path)
	}
	if err == nil {
		err = os.WriteFile(path, data, 0o444)
	}
	if err != nil {
		t.Fatal(err)
	}
	hash := f.trackAll()
	for name, damaged := range map[string]bool{"d3/f24": true, "d3/f31": false} {
		_, r, err := f.repo().OpenFile(t.Context(), hash, name)
		if err == nil {
			_, err = io.Copy(io.Discard, r)
			err = errors.Join(err, r.Close())
		}
		if (err != nil) != damaged {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestR93_KilledInABorrowingTrack kills a first track among its links, and before the flush behind
// them. What the next one makes is whole.
func TestR93_KilledInABorrowingTrack(t *testing.T) {
	t.Parallel()
	gittest.Long(t)
	borrowingTracks(t, 173, gittest.KillAt)
}

// TestR69_BorrowingWriteErrors lets one of those calls fail. A link that cannot be made is no error.
func TestR69_BorrowingWriteErrors(t *testing.T) {
	t.Parallel()
	gittest.Long(t)
	for _, errno := range []syscall.Errno{syscall.EXDEV, syscall.EMLINK, syscall.EPERM, syscall.ENOSPC} {
		t.Run(errno.Error(), func(t *testing.T) {
			t.Parallel()
			borrowingTracks(t, 431, func(t testing.TB, argv, env []string, calls string, n int) gittest.Crash {
				crash := gittest.FailAt(t, argv, env, calls, n, errno)
				if crash.Hit && crash.Call == "linkat" && crash.ExitCode != 0 {
					t.Errorf("call %d: %s", n, crash)
				}
				return crash
			})
		})
	}
}

// borrowingTracks strikes first tracks at every few calls.
func borrowingTracks(t *testing.T, every int, strike func(t testing.TB, argv, env []string, calls string, n int) gittest.Crash) {
	f, o := looseFixture(t)
	c := &crashRun{fixture: f, oracle: o}
	want := o.WriteTree(f.root)
	for n := gittest.First(); ; n += every*gittest.Stride()/7 + 1 {
		if err := os.RemoveAll(c.data); err != nil {
			t.Fatal(err)
		}
		crash := strike(t, []string{os.Args[0]}, c.env("track"), "linkat,mkdirat,syncfs", n)
		if !crash.Hit {
			if crash.ExitCode != 0 {
				t.Fatalf("undisturbed track: %s", crash)
			}
			return
		}
		if got := f.trackAll(); got != want {
			t.Fatalf("call %d (%s): tree %s, want %s", n, crash.Call, got, want)
		}
		o.Fsck(f.repo().StoreDir())
	}
}

// A whole set of links that cannot be made, as on another file system: every file is read.
func TestBorrowLooseNoLinks(t *testing.T) {
	t.Parallel()
	gittest.Long(t)
	f, o := looseFixture(t)
	c := &crashRun{fixture: f, oracle: o}
	crash := gittest.FailFrom(t, []string{os.Args[0]}, c.env("track"), "linkat", 1, syscall.EXDEV)
	if !crash.Hit || crash.ExitCode != 0 {
		t.Fatalf("a track that makes no links: %s", crash)
	}
	if n := f.looseObjects(); n != 0 {
		t.Errorf("%d loose objects", n)
	}
	if got, want := f.trackAll(), o.WriteTree(f.root); got != want {
		t.Errorf("tree %s, want %s", got, want)
	}
	o.Fsck(f.repo().StoreDir())
}
