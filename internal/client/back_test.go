package client

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/protocol"
	"github.com/seed-fb9cbc17/cairn/session"
)

// changed tracks the root, changes files in it, and returns what the tree was and the first checkpoint.
func (f *fixture) changed() (gittest.Listing, *cairn.TrackResult) {
	f.t.Helper()
	name := "caf\xe9"
	if err := os.WriteFile(filepath.Join(f.root, name), []byte("3\n"), 0o644); err != nil {
		name = "cafe" // this system has no such names
	}
	got, err := f.client().Track(f.t.Context(), cairn.TrackOptions{})
	if err != nil {
		f.t.Fatal(err)
	}
	was := gittest.Manifest(f.t, f.root)
	err = errors.Join(os.WriteFile(filepath.Join(f.root, name), []byte("edited\n"), 0o644),
		os.WriteFile(filepath.Join(f.root, "new"), nil, 0o644), os.Remove(filepath.Join(f.root, "a")))
	if err != nil {
		f.t.Fatal(err)
	}
	return was, got
}

// TestGoBack: a server does what the library would, and says the same.
func TestGoBack(t *testing.T) {
	t.Parallel()
	for name, goBack := range map[string]func(f *fixture, c *Client, hash string) (*cairn.Result, error){
		"restore": func(f *fixture, c *Client, hash string) (*cairn.Result, error) {
			return c.Restore(f.t.Context(), hash, cairn.RestoreOptions{})
		},
		"revert": func(f *fixture, c *Client, hash string) (*cairn.Result, error) {
			return c.Revert(f.t.Context(), cairn.Range{From: hash}, cairn.RevertOptions{})
		},
		"revert of a patch": func(f *fixture, c *Client, hash string) (*cairn.Result, error) {
			patch, err := c.Patch(f.t.Context(), hash)
			if err != nil || len(patch.Files) != 3 {
				f.t.Errorf("patch %q, %v", patch.Files, err)
			}
			return c.RevertPatches(f.t.Context(), []cairn.Patch{patch}, cairn.RevertPatchesOptions{})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.serve()
			was, got := f.changed()
			there, err := goBack(f, f.client(), got.Hash)
			if err != nil {
				t.Fatal(err)
			}
			gittest.AssertEqual(t, "the root", was, gittest.Manifest(t, f.root))
			repo, err := cairn.Open(f.opt)
			if err != nil {
				t.Fatal(err)
			}
			defer repo.Close()
			for op, err := range repo.Operations(t.Context()) {
				if err != nil || op.ID != there.Operation || len(op.Paths) != 3 || len(there.Restored) != 2 || len(there.Deleted) != 1 {
					t.Errorf("%+v of %+v, %v", there, op, err)
				}
				break
			}
		})
	}
}

// TestUndoThere: a server undoes and redoes the last operation, and moves the boundary of a session, as the library does.
func TestUndoThere(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.serve()
	_, got := f.changed()
	ctx, c, edited := t.Context(), f.client(), gittest.Manifest(t, f.root)
	if _, err := c.Restore(ctx, got.Hash, cairn.RestoreOptions{}); err != nil {
		t.Fatal(err)
	}
	was := gittest.Manifest(t, f.root)
	undone, err := c.Undo(ctx, cairn.RevertOptions{PassSessions: true})
	if err != nil || len(undone.Restored) != 2 || len(undone.Deleted) != 1 {
		t.Errorf("%+v, %v", undone, err)
	}
	gittest.AssertEqual(t, "undone", edited, gittest.Manifest(t, f.root))
	if _, err := c.Redo(ctx, cairn.RevertOptions{}); err != nil {
		t.Error(err)
	}
	gittest.AssertEqual(t, "redone", was, gittest.Manifest(t, f.root))
	s := NewSessions(c, func() (*session.Sessions, error) { return nil, errors.New("not here") })
	if _, err := s.BeginStep(ctx, session.StepBegin{Session: "s", Message: "m", Role: session.RoleUser, Step: "1"}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(f.root, "b"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	turn := gittest.Manifest(t, f.root)
	if _, err := s.EndStep(ctx, session.StepEnd{Session: "s", Step: "1"}); err != nil {
		t.Fatal(err)
	}
	out, res, err := c.RevertSession(ctx, "s", session.Target{Message: "m"}, session.MoveOptions{})
	if err != nil || len(res.Deleted) != 1 || out.Revert == nil || out.Revert.Message != "m" {
		t.Errorf("%+v, %+v, %v", out, res, err)
	}
	gittest.AssertEqual(t, "the turn is taken back", was, gittest.Manifest(t, f.root))
	if out, _, err = c.UnrevertSession(ctx, "s", session.MoveOptions{OnConflict: cairn.Keep}); err != nil || out.Revert != nil {
		t.Errorf("%+v, %v", out, err)
	}
	gittest.AssertEqual(t, "the turn is back", turn, gittest.Manifest(t, f.root))
}

// TestGoBackHere: what a server cannot do as the library does it is left to the caller.
func TestGoBackHere(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.serve()
	_, got := f.changed()
	c := f.client()
	for name, ask := range map[string]func() error{
		"a dry run": func() error {
			_, err := c.Restore(t.Context(), got.Hash, cairn.RestoreOptions{DryRun: true})
			return err
		},
		"lines": func() error {
			_, err := c.Revert(t.Context(), cairn.Range{From: got.Hash}, cairn.RevertOptions{Lines: []cairn.LineRange{{Path: "a", From: 1, To: 1}}})
			return err
		},
		"outside": func() error {
			_, err := c.Revert(t.Context(), cairn.Range{From: got.Hash}, cairn.RevertOptions{Outside: true})
			return err
		},
		"no patches": func() error {
			_, err := c.RevertPatches(t.Context(), nil, cairn.RevertPatchesOptions{})
			return err
		},
		"an undo outside": func() error {
			_, err := c.Undo(t.Context(), cairn.RevertOptions{Outside: true})
			return err
		},
		"a redo with git": func() error {
			_, err := c.Redo(t.Context(), cairn.RevertOptions{Git: true})
			return err
		},
		"a dry run of a turn": func() error {
			_, _, err := c.RevertSession(t.Context(), "s", session.Target{Message: "m"}, session.MoveOptions{DryRun: true})
			return err
		},
		"a session that is a path": func() error {
			_, _, err := c.UnrevertSession(t.Context(), "..", session.MoveOptions{})
			return err
		},
		"no hash": func() error {
			_, err := c.Restore(t.Context(), "", cairn.RestoreOptions{})
			return err
		},
		"a plan that is none": func() error {
			_, err := c.Restore(t.Context(), got.Hash, cairn.RestoreOptions{Plan: "0123456789abcdef"})
			return err
		},
	} {
		if err := ask(); !errors.Is(err, ErrNoServer) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := c.Restore(t.Context(), "none", cairn.RestoreOptions{}); !errors.Is(err, cairn.ErrNotFound) || errors.Is(err, session.ErrNotFound) || errors.Is(err, ErrNoServer) {
		t.Errorf("an unknown checkpoint: %v", err)
	}
	if _, err := f.client().Changes(t.Context(), got.Hash, []string{filepath.Join(f.root, "none")}); !errors.Is(err, cairn.ErrNotFound) {
		t.Errorf("an unknown path: %v", err)
	}
	if _, err := os.Lstat(filepath.Join(f.root, "new")); err != nil {
		t.Error(err)
	}
}

// TestGoBackBusy: where another caller goes back by the server, this one waits for the lock itself.
func TestGoBackBusy(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.listen(func(c net.Conn) {
		defer c.Close()
		request, err := http.ReadRequest(bufio.NewReader(c))
		if err != nil {
			return
		}
		io.WriteString(c, "HTTP/1.1 100 Continue\r\n\r\n")
		io.Copy(io.Discard, request.Body)
		body := `{"type":"` + protocol.Busy.URI() + `","detail":"busy"}`
		fmt.Fprintf(c, "HTTP/1.1 409 Conflict\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	})
	if _, err := f.client().Restore(t.Context(), "@", cairn.RestoreOptions{}); !errors.Is(err, ErrNoServer) {
		t.Errorf("the error is %v", err)
	}
}

// TestChanges: a server lists changes as the library does, of paths of any bytes, and their contents are in
// the store of a Repo that was open before.
func TestChanges(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.serve()
	_, got := f.changed()
	repo, err := cairn.Open(f.opt)
	if err != nil {
		t.Fatal(err)
	}
	defer repo.Close()
	for _, paths := range [][]string{nil, {filepath.Join(f.root, "caf\xe9")}, {filepath.Join(f.root, "new"), filepath.Join(f.root, "a")}} {
		there, err := f.client().Changes(t.Context(), got.Hash, paths)
		if err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		if err := repo.WriteDiff(t.Context(), &text, there, cairn.DiffOptions{}); err != nil {
			t.Errorf("%q: %v", paths, err)
		}
		here, err := repo.Changes(t.Context(), got.Hash, "", paths...)
		if err != nil || len(here) == 0 != (text.Len() == 0) {
			t.Errorf("%q: %v, %q", paths, err, &text)
		}
		if diff := cmp.Diff(here, there, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%q: %s", paths, diff)
		}
	}
	if _, err := f.client().Changes(t.Context(), "none", nil); !errors.Is(err, cairn.ErrNotFound) {
		t.Errorf("an unknown checkpoint: %v", err)
	}
	if _, err := f.client().Changes(t.Context(), got.Hash, []string{strings.Repeat("x", 64<<10)}); !errors.Is(err, ErrNoServer) {
		t.Errorf("a path longer than an address: %v", err)
	}
}
