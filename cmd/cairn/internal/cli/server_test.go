package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/client"
	"github.com/seed-fb9cbc17/cairn/internal/config"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/operation"
	"github.com/seed-fb9cbc17/cairn/internal/protocol"
	"github.com/seed-fb9cbc17/cairn/session"
)

// listenAt listens where a server of the data directory does.
func listenAt(t *testing.T, dir string) net.Listener {
	t.Helper()
	path, err := protocol.Socket(dir)
	if err != nil {
		t.Skip(err)
	}
	err = os.Mkdir(protocol.Dir(dir), 0o700)
	l, lerr := net.Listen("unix", path)
	if lerr != nil {
		t.Fatal(err, lerr)
	}
	t.Cleanup(func() { l.Close() })
	if err := errors.Join(err, os.Chmod(path, 0o600)); err != nil {
		t.Fatal(err)
	}
	return l
}

// shortDir is a directory whose path leaves room for that of a socket.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "cairn")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// TestInterruptOfAServersWork: the note after an interrupt says that a server goes on.
func TestInterruptOfAServersWork(t *testing.T) {
	t.Parallel()
	dir := shortDir(t)
	listenAt(t, dir)
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	for _, command := range []string{"restore", "undo"} {
		var errs bytes.Buffer
		c := New(nil, io.Discard, &errs, func(string) string { return "" }, dir)
		c.LastOptions, c.Running = &cairn.Options{Root: dir, DataDir: dir}, command
		_, err := c.GoBack(ctx, nil, Way{
			There: func(s *client.Client) (*cairn.Result, error) { return s.Restore(ctx, "@", cairn.RestoreOptions{}) },
			Here:  func() (*cairn.Result, error) { t.Error("the work is done here"); return nil, nil },
		})
		if status := c.report(ctx, err); status != ExitInterrupted || !strings.Contains(errs.String(), "the server, if it has begun, goes on") {
			t.Errorf("%s: status %d, %s", command, status, errs.String())
		}
	}
}

// TestInterruptOfALookUp: so does the note after an interrupt while the record of a lost answer is looked up. The
// client has patience: the machine that runs this may be slow.
func TestInterruptOfALookUp(t *testing.T) {
	t.Parallel()
	data, root := shortDir(t), t.TempDir()
	gittest.Create(t, root, gittest.Tree{"a": gittest.File("1\n"), "d/b": gittest.File("2\n")})
	opt := cairn.Options{Root: root, DataDir: data, NoSync: true}
	repo, _ := restored(t, opt)
	l := listenAt(t, data)
	go func() {
		if conn, err := l.Accept(); err == nil {
			serveOnce(opt, l, conn, func(*cairn.Repo, string, net.Listener, net.Conn) error { return nil })
		}
	}()
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	var errs bytes.Buffer
	c := New(nil, io.Discard, &errs, func(string) string { return "" }, root)
	c.LastOptions, c.Running = &opt, "undo"
	_, err := c.GoBack(ctx, repo, Way{
		There: func(s *client.Client) (*cairn.Result, error) {
			defer interrupt()
			return s.Patient(time.Minute).Undo(ctx, cairn.RevertOptions{})
		},
		Here: func() (*cairn.Result, error) { t.Error("the work is done here"); return nil, nil },
		Once: true,
	})
	if status := c.report(ctx, err); status != ExitInterrupted || !strings.Contains(errs.String(), "the server, if it has begun, goes on") {
		t.Errorf("status %d, %s", status, errs.String())
	}
}

// TestLostAnswer: an undo is done once, whatever becomes of the server that was asked for it.
func TestLostAnswer(t *testing.T) {
	t.Parallel()
	undo := func(repo *cairn.Repo, token string) error {
		_, err := repo.Undo(operation.WithToken(context.Background(), token), cairn.RevertOptions{})
		return err
	}
	for name, c := range map[string]struct {
		server func(repo *cairn.Repo, token string, l net.Listener, conn net.Conn) error
		undone bool
		text   string // of the error or the remark
	}{
		"done and lives": {func(repo *cairn.Repo, token string, _ net.Listener, _ net.Conn) error { return undo(repo, token) }, true, "this is what it has recorded"},
		"done and dies": {func(repo *cairn.Repo, token string, l net.Listener, _ net.Conn) error {
			return errors.Join(undo(repo, token), l.Close())
		}, true, "this is what it has recorded"},
		"may be at work": {func(*cairn.Repo, string, net.Listener, net.Conn) error { return nil }, false, "cairn operations says"},
		"dies":           {func(_ *cairn.Repo, _ string, l net.Listener, _ net.Conn) error { return l.Close() }, true, ""},
		"fails": {func(_ *cairn.Repo, _ string, _ net.Listener, conn net.Conn) error {
			_, err := io.WriteString(conn, "HTTP/1.1 500 No\r\nContent-Length: 2\r\n\r\n{}")
			return err
		}, true, ""},
		"answers nonsense after it": {func(repo *cairn.Repo, token string, _ net.Listener, conn net.Conn) error {
			undone := undo(repo, token)
			_, err := io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n{")
			return errors.Join(undone, err)
		}, true, "this is what it has recorded"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lostAnswer(t, c.server, c.undone, c.text)
		})
	}
}

func lostAnswer(t *testing.T, server func(*cairn.Repo, string, net.Listener, net.Conn) error, undone bool, text string) {
	data, root := shortDir(t), t.TempDir()
	gittest.Create(t, root, gittest.Tree{"a": gittest.File("1\n"), "d/b": gittest.File("2\n")})
	opt := cairn.Options{Root: root, DataDir: data, NoSync: true}
	repo, was := restored(t, opt)
	now := gittest.Manifest(t, root)
	l := listenAt(t, data)
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			if err := serveOnce(opt, l, conn, server); err != nil && err != io.ErrUnexpectedEOF {
				t.Error(err)
			}
		}
	})
	var errs bytes.Buffer
	c := New(nil, io.Discard, &errs, func(string) string { return "" }, root)
	c.LastOptions = &opt
	back := cairn.RevertOptions{}
	res, err := c.GoBack(t.Context(), repo, Way{
		There: func(s *client.Client) (*cairn.Result, error) { return s.Patient(time.Minute).Undo(t.Context(), back) },
		Here:  func() (*cairn.Result, error) { return repo.Undo(t.Context(), back) },
		Once:  true,
	})
	l.Close()
	serving.Wait()
	ops := 0
	for _, err := range repo.Operations(t.Context()) {
		if ops++; err != nil {
			t.Fatal(err)
		}
	}
	if !undone {
		gittest.AssertEqual(t, "nothing is undone", now, gittest.Manifest(t, root))
		if err == nil || ops != 1 || !strings.Contains(err.Error(), text) {
			t.Errorf("%v, %d operations", err, ops)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	gittest.AssertEqual(t, "undone", was, gittest.Manifest(t, root))
	if ops != 2 || !slices.Equal(res.Restored, []string{"a", "empty", "new"}) || !slices.Equal(res.Deleted, []string{"d/b"}) && !slices.Equal(res.Deleted, []string{"d", "d/b"}) {
		t.Errorf("%d operations, %+v", ops, res)
	}
	if !strings.Contains(errs.String(), text) {
		t.Error(errs.String())
	}
	if out, err := json.Marshal(res); err != nil || bytes.Contains(out, []byte("null")) {
		t.Errorf("%s, %v", out, err)
	}
}

// TestLostAnswerInTwoRoots: an undo of the work of two directories is done once in both, and the answer has both.
func TestLostAnswerInTwoRoots(t *testing.T) {
	t.Parallel()
	for i, name := range []string{"first", "second"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data, roots := shortDir(t), []string{t.TempDir(), t.TempDir()}
			slices.Sort(roots)
			opt := cairn.Options{Root: roots[i], DataDir: data, NoSync: true}
			repo, was := revertedIn(t, opt, roots[i], roots[1-i])
			l := listenAt(t, data)
			var serving sync.WaitGroup
			serving.Go(func() {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				if err := serveOnce(opt, l, conn, func(repo *cairn.Repo, token string, l net.Listener, _ net.Conn) error {
					_, err := repo.Undo(operation.WithToken(context.Background(), token), cairn.RevertOptions{})
					return errors.Join(err, l.Close())
				}); err != nil && !errors.Is(err, net.ErrClosed) {
					t.Error(err)
				}
			})
			c := New(nil, io.Discard, io.Discard, func(string) string { return "" }, roots[i])
			c.LastOptions = &opt
			res, err := c.GoBack(t.Context(), repo, Way{
				There: func(s *client.Client) (*cairn.Result, error) {
					return s.Patient(time.Minute).Undo(t.Context(), cairn.RevertOptions{})
				},
				Here: func() (*cairn.Result, error) { return repo.Undo(t.Context(), cairn.RevertOptions{}) },
				Once: true,
			})
			l.Close()
			serving.Wait() // the answer may be known before the server has ended
			if err != nil {
				t.Fatal(err)
			}
			for n, root := range []string{roots[i], roots[1-i]} {
				gittest.AssertEqual(t, "undone once", was[n], gittest.Manifest(t, root))
			}
			if !slices.Equal(res.Restored, []string{"a"}) || len(res.Elsewhere) != 1 || string(res.Elsewhere[0].Root) != roots[1-i] || !slices.Equal(res.Elsewhere[0].Restored, []string{"a"}) {
				t.Errorf("%+v", res)
			}
		})
	}
}

// revertedIn takes two turns of a session in two directories back, one after the other, and returns what was there
// after the first revert's turn.
func revertedIn(t *testing.T, opt cairn.Options, root, other string) (*cairn.Repo, [2]gittest.Listing) {
	t.Helper()
	repo, err := cairn.Open(opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { repo.Close() })
	all := session.New(repo)
	if _, err := all.Begin(t.Context(), session.SessionBegin{ID: "s", Further: []string{other}}); err != nil {
		t.Fatal(err)
	}
	var states [3][2]gittest.Listing
	for n, message := range []string{"m0", "m1", "m2"} {
		step, err := all.BeginStep(t.Context(), session.StepBegin{Session: "s", Message: message})
		if err != nil {
			t.Fatal(err)
		}
		for i, at := range []string{root, other} {
			if err := os.WriteFile(filepath.Join(at, "a"), []byte(message+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			states[n][i] = gittest.Manifest(t, at)
		}
		if _, err := all.EndStep(t.Context(), session.StepEnd{Session: "s", Step: step.ID}); err != nil {
			t.Fatal(err)
		}
	}
	for _, message := range []string{"m2", "m1"} {
		if _, _, err := all.Revert(t.Context(), "s", session.Target{Message: message}, session.MoveOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	return repo, states[1]
}

// restored goes back to the first checkpoint of a directory, and returns what was there before.
func restored(t *testing.T, opt cairn.Options) (*cairn.Repo, gittest.Listing) {
	t.Helper()
	repo, err := cairn.Open(opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { repo.Close() })
	got, err := repo.Track(t.Context(), cairn.TrackOptions{})
	if err != nil {
		t.Fatal(err)
	}
	in := func(name string) string { return filepath.Join(opt.Root, name) }
	if err := errors.Join(os.WriteFile(in("a"), []byte("edited\n"), 0o644), os.WriteFile(in("new"), nil, 0o644), os.Mkdir(in("empty"), 0o755), os.RemoveAll(in("d"))); err != nil {
		t.Fatal(err)
	}
	was := gittest.Manifest(t, opt.Root)
	if _, err := repo.Restore(t.Context(), got.Hash, cairn.RestoreOptions{}); err != nil {
		t.Fatal(err)
	}
	return repo, was
}

// serveOnce reads a request, lets server do what it does with it, and hangs up.
func serveOnce(opt cairn.Options, l net.Listener, conn net.Conn, server func(*cairn.Repo, string, net.Listener, net.Conn) error) error {
	defer conn.Close()
	request, err := http.ReadRequest(bufio.NewReader(conn))
	if err != nil {
		return nil // only to see whether a server listens
	}
	io.WriteString(conn, "HTTP/1.1 100 Continue\r\n\r\n")
	io.Copy(io.Discard, request.Body)
	repo, err := cairn.Open(opt)
	if err != nil {
		return err
	}
	return errors.Join(server(repo, request.Header.Get(protocol.OperationHeader), l, conn), repo.Close())
}

// TestVariablesThatForbid: "", 0 and false say no, anything else says yes.
func TestVariablesThatForbid(t *testing.T) {
	t.Parallel()
	dir := shortDir(t)
	listenAt(t, dir)
	for value, forbids := range map[string]bool{"": false, "0": false, "false": false, "1": true, "true": true, "yes": true} {
		env := func(name string) string {
			if strings.HasPrefix(name, "CAIRN_NO_") {
				return value
			}
			return ""
		}
		c := New(strings.NewReader(""), io.Discard, io.Discard, env, dir)
		c.Config, c.Spawn = &config.Config{Background: true}, func([]string) error { return nil }
		if server := c.Server(cairn.Options{DataDir: dir}); (server == nil) != forbids {
			t.Errorf("CAIRN_NO_SERVER=%s: a server is used: %v", value, server != nil)
		}
		if c.MayBegin() == forbids {
			t.Errorf("CAIRN_NO_BACKGROUND=%s: work begins: %v", value, c.MayBegin())
		}
	}
}
