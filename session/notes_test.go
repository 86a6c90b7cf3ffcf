package session_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

// edited is a step whose tools are known by their names, and which named some paths.
func (f *fixture) edited(id, message, step string, tools []string, named []string, do func(), more ...session.Part) {
	f.Helper()
	if _, err := f.BeginStep(background, session.StepBegin{Session: id, Message: message, Role: session.RoleUser, Step: step, Paths: named}); err != nil {
		f.Fatal(err)
	}
	do()
	for i, tool := range tools {
		more = append(more, session.Part{ID: fmt.Sprint(step, "-", i), Type: session.PartTool, Meta: map[string]string{session.MetaTool: tool}})
	}
	if _, err := f.EndStep(background, session.StepEnd{Session: id, Step: step, Parts: more}); err != nil {
		f.Fatal(err)
	}
}

// wantNotes takes the newest turn back, after a dry run with the same notes.
func (f *fixture) wantNotes(id string, want ...string) {
	f.Helper()
	for _, opt := range []session.MoveOptions{{DryRun: true}, {}} {
		_, res, err := f.UndoTurn(background, id, opt)
		if err != nil {
			f.Fatal(err)
		}
		if !slices.Equal(res.Notes, want) {
			f.Errorf("dry run %v: %q, want %q", opt.DryRun, res.Notes, want)
		}
	}
}

// TestNotesOfUnnamedChanges: a path that changed while edit tools ran and that none of them named may be
// the user's. Where another tool ran, or one that names nothing, nothing is known of it.
func TestNotesOfUnnamedChanges(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n"), "b": gittest.File("1\n"), "dir/c": gittest.File("1\n"), "link": gittest.Link("dir")})
	both := func(text string) func() {
		return func() { f.write("a", text); f.write("b", text); f.write("dir/c", text) }
	}
	f.edited("s", "m1", "1", []string{"Edit", "write_file"}, []string{f.path("a"), filepath.Join(f.root, "link", "c")}, both("2\n"))
	f.edited("s", "m2", "2", []string{"Edit", "Bash"}, []string{"a"}, both("3\n"))
	f.edited("s", "m3", "3", []string{"Edit"}, nil, both("4\n"))
	f.wantNotes("s")
	f.wantNotes("s")
	f.wantNotes("s", "changed while an edit tool ran that did not name them, so they may be yours, and went along: b")
}

// TestNotesOfMergedPaths: a path that the user has written since holds both changes after the undo.
func TestNotesOfMergedPaths(t *testing.T) {
	t.Parallel()
	lines := strings.Repeat("line\n", 10)
	f := newFixture(t, gittest.Tree{"a": gittest.File(lines), "b": gittest.File(lines)})
	f.edited("s", "m1", "1", nil, nil, func() { f.write("a", "agent\n"+lines); f.write("b", "agent\n"+lines) })
	f.write("a", "agent\n"+lines+"mine\n")
	f.wantNotes("s", "written since as well, so both changes were merged: a")
	if got := f.read("a"); got != lines+"mine\n" {
		t.Errorf("a is %q", got)
	}
}

// TestNotesOfMergedPathsOfAnOperation: the same for the undo of a restore.
func TestNotesOfMergedPathsOfAnOperation(t *testing.T) {
	t.Parallel()
	lines := strings.Repeat("line\n", 10)
	f := newFixture(t, gittest.Tree{"a": gittest.File(lines)})
	begin, err := f.repo.Track(background, cairn.TrackOptions{})
	if err != nil {
		t.Fatal(err)
	}
	f.write("a", "agent\n"+lines)
	if _, err := f.repo.Restore(background, begin.Checkpoint, cairn.RestoreOptions{}); err != nil {
		t.Fatal(err)
	}
	f.write("a", lines+"mine\n")
	res, err := f.repo.Undo(background, cairn.RevertOptions{})
	if err != nil || !slices.Equal(res.Notes, []string{"written since as well, so both changes were merged: a"}) {
		t.Errorf("%+v, %v", res, err)
	}
}

// TestNotesOfMissedSteps: the steps that could not be captured are counted with the step that tells of
// them, and once.
func TestNotesOfMissedSteps(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n")})
	f.edited("s", "m1", "1", nil, nil, func() { f.write("a", "2\n") })
	f.edited("s", "m2", "2", nil, nil, func() { f.write("a", "3\n") }, session.MissedPart("2/missed", 2, "the disk was full"))
	f.wantNotes("s", "2 steps of this session could not be captured and cannot be taken back, the latest because: the disk was full")
	f.wantNotes("s")
}
