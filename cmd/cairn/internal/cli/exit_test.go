package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
)

func TestOnlyIs(t *testing.T) {
	t.Parallel()
	if !onlyIs(errors.Join(ErrPartly, nil), ErrPartly) || onlyIs(errors.Join(ErrPartly, errors.New("a")), ErrPartly) {
		t.Error("a failure beside errPartly must not be lost")
	}
}

// A store that cannot be written is no dead end: the error names the way out, and what works meanwhile.
func TestHintsOfAStoreThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("a full disk has another number there")
	}
	const holder = "/data/snapshot/0123456789abcdef/cairn/lock.holder"
	for _, test := range []struct {
		err  error
		want []string
	}{
		{&fs.PathError{Op: "open", Path: holder, Err: syscall.EROFS}, []string{"mount", "CAIRN_DATA_DIR"}},
		{&fs.PathError{Op: "open", Path: holder, Err: fs.ErrPermission}, []string{"writable", "CAIRN_DATA_DIR"}},
		{&fs.PathError{Op: "write", Path: holder, Err: syscall.ENOSPC}, []string{"a little room", "cairn gc"}},
	} {
		locked := hint(fmt.Errorf("lock store /data/snapshot/0123456789abcdef: %w", test.err))
		for _, word := range append(test.want, "diff FROM TO") {
			if !strings.Contains(locked, word) {
				t.Errorf("%v: %q lacks %q", test.err, locked, word)
			}
		}
	}
	made := hint(fmt.Errorf("%w: create store: %w", cairn.ErrStore, syscall.EROFS))
	cleaned := hint(fmt.Errorf("clean: write the ends of lines: %w", syscall.ENOSPC))
	if !strings.Contains(made, "CAIRN_DATA_DIR") || !strings.Contains(cleaned, "a little room") {
		t.Errorf("%q, %q", made, cleaned)
	}
	ref := filepath.FromSlash("/data/snapshot/0123456789abcdef/refs/cairn/disk")
	if others := hint(fmt.Errorf("ref refs/cairn/disk: %w", &fs.PathError{Op: "open", Path: ref, Err: fs.ErrPermission})); !strings.Contains(others, "cairn doctor") {
		t.Errorf("a file of another user in a store: %q", others)
	}
	if elsewhere := hint(fmt.Errorf("no place for a copy: %w", fs.ErrPermission)); elsewhere != "" {
		t.Errorf("a place that is no store: %q", elsewhere)
	}
}
