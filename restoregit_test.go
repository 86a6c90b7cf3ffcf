package cairn_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
)

// part has git read a part of a record.
func (f *gitFixture) part(record, name string) string {
	f.Helper()
	if out, err := f.o.Try(f.repo().StoreDir(), "cat-file", "-p", record+":"+name); err == nil {
		return out
	}
	var whole strings.Builder
	for piece := range strings.Lines(f.store("ls-tree", "--object-only", record+":"+name+".pieces")) {
		whole.WriteString(f.o.In(f.repo().StoreDir(), "cat-file", "-p", strings.TrimSpace(piece)))
	}
	return whole.String()
}

// TestRestoreGit: git goes back by a plan that is named, in whole or in parts, and the checkpoint that
// the answer names leads back again.
func TestRestoreGit(t *testing.T) {
	t.Parallel()
	f := newGitFixture(t)
	look := func() string {
		f.Helper()
		return f.git("for-each-ref") + f.git("ls-files", "--stage") + f.git("symbolic-ref", "HEAD")
	}
	f.git("branch", "topic")
	then, want := f.track().Checkpoint, look()
	f.git("branch", "-q", "-D", "topic")
	f.git("reset", "-q", "--hard", "HEAD~2")
	f.git("checkout", "-q", "-b", "other")
	f.git("reflog", "expire", "--expire=now", "--all")
	f.git("gc", "-q", "--prune=now")
	now := look()
	r := f.repo()
	if _, err := r.RestoreGit(f.Context(), then, cairn.GitRestoreOptions{}); !errors.Is(err, cairn.ErrGitNotPlanned) {
		t.Errorf("without a plan: %v", err)
	}
	plan := func(spec string, opt cairn.GitRestoreOptions) string {
		f.Helper()
		opt.DryRun = true
		res, err := r.RestoreGit(f.Context(), spec, opt)
		if err != nil {
			t.Fatal(err)
		}
		return res.PlanID
	}
	if plan(then, cairn.GitRestoreOptions{}); look() != now {
		t.Error("a dry run changes git")
	}
	stale := plan(then, cairn.GitRestoreOptions{})
	f.git("branch", "mine")
	if _, err := r.RestoreGit(f.Context(), then, cairn.GitRestoreOptions{Plan: stale}); !errors.Is(err, cairn.ErrGitNotPlanned) {
		t.Errorf("with a plan of an earlier state: %v", err)
	}
	f.git("branch", "-d", "mine")
	res, err := r.RestoreGit(f.Context(), then, cairn.GitRestoreOptions{Plan: stale})
	if err != nil {
		t.Fatal(err)
	}
	if got := look(); got != want {
		t.Errorf("git:\n%s\nwant:\n%s", got, want)
	}
	if _, err = r.RestoreGit(f.Context(), res.Before, cairn.GitRestoreOptions{Plan: plan(res.Before, cairn.GitRestoreOptions{})}); err != nil {
		t.Fatal(err)
	}
	if got := look(); got != now {
		t.Errorf("git, back again:\n%s\nwant:\n%s", got, now)
	}
	f.o.Fsck(f.root)
	f.sound()
	if _, err := f.repo().RestoreGit(f.Context(), "@~99", cairn.GitRestoreOptions{DryRun: true}); !errors.Is(err, cairn.ErrNotFound) {
		t.Errorf("of no checkpoint: %v", err)
	}
}

// TestRestoreGitSince: what the user has done after the step stays.
func TestRestoreGitSince(t *testing.T) {
	t.Parallel()
	f := newGitFixture(t)
	f.git("branch", "topic")
	before := f.track().Checkpoint
	f.git("branch", "-q", "-D", "topic")
	f.git("reset", "-q", "--hard", "HEAD~1")
	after := f.track().Checkpoint
	mine := f.commit("mine")
	r, opt := f.repo(), cairn.GitRestoreOptions{Refs: true, Since: after, DryRun: true}
	plan, err := r.RestoreGit(f.Context(), before, opt)
	if err != nil {
		t.Fatal(err)
	}
	res, err := r.RestoreGit(f.Context(), before, cairn.GitRestoreOptions{Refs: true, Since: after, Plan: plan.PlanID})
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Conflicts) != 1 || res.Conflicts[0].Ref != "refs/heads/main" || len(res.Changes) != 1 {
		t.Errorf("result %+v", res)
	}
	if head := f.git("rev-parse", "HEAD"); head != mine {
		t.Errorf("the user's commit %s is not the newest, but %s", mine, head)
	}
	f.git("rev-parse", "--verify", "topic")
}
