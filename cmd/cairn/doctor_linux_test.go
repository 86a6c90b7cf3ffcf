package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// TestDoctorWhereNothingCanBeWritten: a store that is whole, and takes no checkpoint.
func TestDoctorWhereNothingCanBeWritten(t *testing.T) {
	if !gittest.Isolated(t) {
		return
	}
	for name, test := range map[string]struct {
		harm   func(data string) error
		advice string
	}{
		"read-only": {
			func(data string) error { return unix.Mount("", data, "", unix.MS_REMOUNT|unix.MS_RDONLY, "") },
			"mount that file system writable",
		},
		"full": {
			func(data string) error {
				_ = os.WriteFile(filepath.Join(data, "fill"), make([]byte, 8<<20), 0o600) // until nothing is free
				return nil
			},
			"make a little room on that disk",
		},
	} {
		t.Run(name, func(t *testing.T) {
			home, dir, data := t.TempDir(), t.TempDir(), t.TempDir()
			gittest.Create(t, dir, gittest.Tree{"a": gittest.File("1\n")})
			if err := unix.Mount("cairn-test", data, "tmpfs", 0, "size=8m"); err != nil {
				t.Skip(err)
			}
			t.Cleanup(func() { unix.Unmount(data, unix.MNT_DETACH) })
			doctor := func() call {
				return runHere(t, dir, home, "", "--data-dir", filepath.Join(data, "cairn"), "--min-free", "1", "doctor")
			}
			if c := runHere(t, dir, home, "", "--data-dir", filepath.Join(data, "cairn"), "--min-free", "1", "track"); c.status != cli.ExitDone {
				t.Fatal(c)
			}
			if c := doctor(); c.status != cli.ExitDone {
				t.Fatalf("at first: %+v", c)
			}
			if err := test.harm(data); err != nil {
				t.Skip(err)
			}
			c := doctor()
			if c.status != cli.ExitFailed || !strings.Contains(c.stdout, "no checkpoint can be taken: ") || !strings.Contains(c.stdout, test.advice) {
				t.Errorf("%+v", c)
			}
		})
	}
}
