package transfer

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/git"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/settings"
)

// ErrNoGit: push and fetch found no git program.
var ErrNoGit = git.ErrNoGit

// remote is a git repository elsewhere.
type remote struct {
	git  *git.Binary
	home string
	url  string // or absolute path
	log  *slog.Logger
	tell git.Progress // may be nil

	safe  []string        // directories of other users that the user's git works in; of a remote on this machine
	shown []string        // beginnings of refs that lead to what this store has, too
	left  map[string]bool // lines of a push that the remote does not take, because their beginning is gone

	timeout time.Duration    // without progress; <= 0 = none
	limit   string           // where the timeout comes from, or what helps
	room    func() error     // whether the disk has room for what comes; nil = not looked at
	ticks   <-chan time.Time // of a test
}

// open returns a remote for a URL or a path.
func (r *Transport) open(where string) (*remote, error) {
	m, err := OpenRemote(r.Store, where)
	if err == nil {
		m.room, m.ticks = r.roomFor(), r.ticks
	}
	return m, err
}

// OpenRemote returns a remote for a URL or a path.
func OpenRemote(r *history.Store, where string) (*remote, error) {
	if where == "" || where[0] == '-' || strings.ContainsAny(where, "\x00\n\r") {
		return nil, fmt.Errorf("remote %q (want a URL or a path)", where)
	}
	binary, err := git.LookBinary()
	if err != nil {
		return nil, fmt.Errorf("push and fetch need git (install it, or use export and import): %w", err)
	}
	if IsLocal(where) {
		if where, err = filepath.Abs(where); err != nil {
			return nil, err
		}
	}
	m := &remote{
		git: binary, home: r.Opt.Home, url: where, log: r.Log, tell: r.Opt.Told(),
		timeout: cmp.Or(r.Opt.RemoteTimeout, settings.DefaultRemoteTimeout), limit: "the setting remote_timeout",
	}
	if m.isHere() {
		m.safe = safeDirectories(r)
	}
	return m, nil
}

// IsLocal reports whether git takes where for a path, that is, it is neither a URL nor host:path.
func IsLocal(where string) bool {
	if filepath.IsAbs(where) {
		return true
	}
	colon, slash := strings.IndexByte(where, ':'), strings.IndexByte(where, '/')
	return colon < 0 || slash >= 0 && slash < colon
}

// leave notes a line that the remote does not take.
func (m *remote) leave(line string) {
	if m.left == nil {
		m.left = make(map[string]bool)
	}
	m.left[line] = true
}

// Run runs a git command that ends in "-- URL ARGUMENTS" and returns what it prints.
func (m *remote) Run(ctx context.Context, gitDir string, args, rest []string) (string, error) {
	return m.run(ctx, gitDir, args, rest)
}

// run is Run with more variables in the environment.
func (m *remote) run(ctx context.Context, gitDir string, args, rest []string, env ...string) (string, error) {
	if !slices.Contains(args, "ls-remote") {
		args = append(slices.Clone(args), "--progress")
	}
	option := m.program("upload-pack")
	if slices.Contains(args, "push") {
		option = m.receivePack(rest)
	}
	if option != "" {
		args = append(args[:len(args):len(args)], option)
	}
	args = append(append(args[:len(args):len(args)], "--", m.url), rest...)
	ctx, g, end := m.guarded(ctx, gitDir)
	cmd := m.git.Remote(ctx, gitDir, m.home, args...)
	cmd.Env = append(cmd.Env, env...)
	var out bytes.Buffer
	complaint := g.listens(m.tell)
	cmd.Stdout, cmd.Stderr = &out, &complaint
	err := cmd.Run()
	if cause := end(); cause != nil {
		err = cause
	} else if err != nil {
		err = fmt.Errorf("git: %s", cmp.Or(explain(m.withoutPassword(onOneLine(complaint.String()))), err.Error()))
	}
	return out.String(), err
}

// String names the remote in messages.
func (m *remote) String() string { return m.withoutPassword(m.url) }

func (m *remote) withoutPassword(text string) string {
	return strings.ReplaceAll(text, m.url, Redacted(m.url))
}

// noFault lists the beginnings of lines that git says beside errors.
var noFault = []string{"From ", "To ", " * [", " + ", "Total ", "Delta compression using "}

// onOneLine joins the lines of git's error text.
func onOneLine(text string) string {
	lines := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' })
	lines = slices.DeleteFunc(lines, func(line string) bool {
		return slices.ContainsFunc(noFault, func(beginning string) bool { return strings.HasPrefix(line, beginning) })
	})
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	return strings.Join(lines, "; ")
}
