package review

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

func TestMain(m *testing.M) {
	gittest.Prepare()
	m.Run()
}

// recorded is a directory with the work of sessions.
type recorded struct {
	testing.TB
	dir, data string
	repo      *cairn.Repo
	all       *session.Sessions
}

func newRecorded(t testing.TB) *recorded {
	t.Helper()
	r := &recorded{TB: t, dir: filepath.Join(t.TempDir(), "project"), data: t.TempDir()}
	gittest.Create(t, r.dir, gittest.Tree{"keep": gittest.File("1\n")})
	r.open()
	return r
}

func (r *recorded) open() {
	r.Helper()
	repo, err := cairn.Open(cairn.Options{Root: r.dir, DataDir: r.data})
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(func() { repo.Close() })
	r.repo, r.all = repo, session.New(repo)
}

func (r *recorded) write(path, text string) {
	r.Helper()
	if err := os.WriteFile(filepath.Join(r.dir, path), []byte(text), 0o644); err != nil {
		r.Fatal(err)
	}
}

// turn records a turn of one step that does the work.
func (r *recorded) turn(id, message string, work func()) {
	r.Helper()
	ctx := context.Background()
	_, err := r.all.BeginStep(ctx, session.StepBegin{
		Session: id, Message: message, Role: session.RoleUser, Step: message, Prompt: "Prompt " + message, Meta: map[string]string{session.MetaAgent: "demo"},
	})
	if err == nil {
		work()
		_, err = r.all.EndStep(ctx, session.StepEnd{Session: id, Step: message})
	}
	if err != nil {
		r.Fatal(err)
	}
}

func (r *recorded) review(opt Options) *driven {
	opt.Source = NewSource(r.repo, r.all, opt.Session)
	opt.Now = time.Now
	d := &driven{Model: New(context.Background(), opt), t: r.TB}
	d.do(d.Init())
	d.send(tea.WindowSizeMsg{Width: 120, Height: 40})
	return d
}

// lines is a text of numbered lines, some of them replaced.
func lines(n int, replaced map[int]string) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		text, ok := replaced[i]
		if !ok {
			text = fmt.Sprint("line ", i)
		}
		b.WriteString(text + "\n")
	}
	return b.String()
}

// twoTurns has a turn of three hunks in two files, a later turn in one of these, and later work of
// the user.
func twoTurns(t testing.TB) *recorded {
	r := newRecorded(t)
	r.write("f", lines(40, nil))
	r.turn("s", "m1", func() {
		r.write("f", lines(40, map[int]string{5: "first", 20: "second"}))
		r.write("new\xff", "made\r\n")
	})
	r.turn("s", "m2", func() { r.write("f", lines(40, map[int]string{5: "first", 20: "second", 30: "later"})) })
	r.write("f", lines(40, map[int]string{1: "mine", 5: "first", 20: "second", 30: "later"}))
	return r
}

func (r *recorded) wantFile(path, want string) {
	r.Helper()
	if got, err := os.ReadFile(filepath.Join(r.dir, path)); err != nil || string(got) != want {
		r.Errorf("%s is %q, %v", path, got, err)
	}
}

// TestHunkBackAndUndo: one hunk goes, all later work stays, and undo brings every byte and bit back.
func TestHunkBackAndUndo(t *testing.T) {
	t.Parallel()
	r := twoTurns(t)
	before := gittest.Manifest(t, r.dir)
	d := r.review(Options{})
	d.keys("G", "enter", "enter", "]", "x")
	d.wants("Take back 1 hunk of f", "modify  f")
	gittest.AssertEqual(t, r.dir, before, gittest.Manifest(t, r.dir))
	d.keys("y")
	d.wants("done: 1 path restored", "↩ taken back")
	r.wantFile("f", lines(40, map[int]string{1: "mine", 5: "first", 30: "later"}))
	after := gittest.Manifest(t, r.dir)
	d.keys("u", "y")
	d.wants("done: 1 path restored")
	gittest.AssertEqual(t, r.dir, before, gittest.Manifest(t, r.dir))
	if strings.Contains(d.plainScreen(), "↩ taken back") {
		t.Errorf("still shown as taken back:\n%s", d.plainScreen())
	}
	d.keys("ctrl+r", "y")
	d.wants("↩ taken back")
	gittest.AssertEqual(t, r.dir, after, gittest.Manifest(t, r.dir))
}

// TestTurnBackAndUndo: this turn only goes, also with a file that it made.
func TestTurnBackAndUndo(t *testing.T) {
	t.Parallel()
	r := twoTurns(t)
	before := gittest.Manifest(t, r.dir)
	d := r.review(Options{})
	d.keys("G", "x")
	d.wants("Take back this turn only: 3 hunks in 2 files; later turns stay", `delete  new\xff`)
	d.keys("y")
	r.wantFile("f", lines(40, map[int]string{1: "mine", 30: "later"}))
	if _, err := os.Stat(filepath.Join(r.dir, "new\xff")); !os.IsNotExist(err) {
		t.Errorf("the file that the turn made is still there: %v", err)
	}
	d.keys("u", "y")
	gittest.AssertEqual(t, r.dir, before, gittest.Manifest(t, r.dir))
}

// TestGoBackToTurn: this turn and the later one go, and the boundary is where it was after an undo.
func TestGoBackToTurn(t *testing.T) {
	t.Parallel()
	r := twoTurns(t)
	before := gittest.Manifest(t, r.dir)
	d := r.review(Options{})
	d.keys("G", "X")
	d.wants("Go back to before this turn: it and the 1 turn after it")
	d.keys("y")
	r.wantFile("f", lines(40, map[int]string{1: "mine"}))
	d.wants("↩ Prompt m1", "↩ Prompt m2")
	d.keys("u", "y")
	gittest.AssertEqual(t, r.dir, before, gittest.Manifest(t, r.dir))
	if strings.Contains(d.plainScreen(), "↩ Prompt") {
		t.Errorf("still shown as reverted:\n%s", d.plainScreen())
	}
}

// step records a step of a turn that has several.
func (r *recorded) step(id string, work func()) {
	r.Helper()
	_, err := r.all.BeginStep(context.Background(), session.StepBegin{Session: "s", Message: "m", Role: session.RoleUser, Step: id})
	if err == nil {
		work()
		_, err = r.all.EndStep(context.Background(), session.StepEnd{Session: "s", Step: id})
	}
	if err != nil {
		r.Fatal(err)
	}
}

// TestUserBetweenSteps: a file that the user changed before the turn's second step came to it keeps
// that change.
func TestUserBetweenSteps(t *testing.T) {
	t.Parallel()
	r := newRecorded(t)
	r.write("f", lines(9, nil))
	r.step("1", func() { r.write("other", "1\n") })
	r.write("f", lines(9, map[int]string{4: "mine"}))
	r.step("2", func() { r.write("f", lines(9, map[int]string{4: "mine", 6: "agent"})) })
	before := gittest.Manifest(t, r.dir)
	d := r.review(Options{})
	d.keys("enter", "x", "y")
	r.wantFile("f", lines(9, map[int]string{4: "mine"}))
	d.keys("u", "y")
	gittest.AssertEqual(t, r.dir, before, gittest.Manifest(t, r.dir))
}

// TestUserBetweenStepsOfOneFile: both steps of a turn changed a file, and the user between them. The
// user's line is in no hunk, and stays when the turn goes.
func TestUserBetweenStepsOfOneFile(t *testing.T) {
	t.Parallel()
	r := newRecorded(t)
	r.write("f", lines(9, nil))
	r.step("1", func() { r.write("f", lines(9, map[int]string{2: "agent"})) })
	r.write("f", lines(9, map[int]string{2: "agent", 4: "mine"}))
	r.step("2", func() { r.write("f", lines(9, map[int]string{2: "agent", 4: "mine", 6: "agent"})) })
	before := gittest.Manifest(t, r.dir)
	d := r.review(Options{})
	d.wants("+2 -2", "hunk 1 of 2")
	d.keys("x")
	d.wants("Take back this turn only: 2 hunks in 1 file")
	d.keys("y")
	r.wantFile("f", lines(9, map[int]string{4: "mine"}))
	d.keys("u", "y")
	gittest.AssertEqual(t, r.dir, before, gittest.Manifest(t, r.dir))
}

// TestRange: hunks between two checkpoints go back in the same way.
func TestRange(t *testing.T) {
	t.Parallel()
	r := newRecorded(t)
	ctx := context.Background()
	r.write("f", lines(20, nil))
	first, err := r.repo.Track(ctx, cairn.TrackOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r.write("f", lines(20, map[int]string{3: "x", 15: "y"}))
	second, err := r.repo.Track(ctx, cairn.TrackOptions{})
	if err != nil {
		t.Fatal(err)
	}
	from, err := r.repo.Lookup(ctx, first.Checkpoint)
	if err != nil {
		t.Fatal(err)
	}
	to, err := r.repo.Lookup(ctx, second.Checkpoint)
	if err != nil {
		t.Fatal(err)
	}
	d := r.review(Options{Range: RangeTurn(from, to, "why")})
	d.keys("enter", "enter", "a", "x", "y")
	r.wantFile("f", lines(20, map[int]string{3: "x"}))
	d = r.review(Options{Range: RangeTurn(from, to, "why")})
	d.wants("✓ accepted", "·")
	d = r.review(Options{Range: RangeTurn(from, nil, "")})
	d.wants("the present", "+1 -1")
}

// TestRemembered: a decision is there in the next process, survives a cleaning, and goes with the
// session and with a purged path.
func TestRemembered(t *testing.T) {
	t.Parallel()
	r := twoTurns(t)
	d := r.review(Options{})
	d.keys("G", "a")
	d.wants("✓ Prompt m1")
	if _, err := r.repo.Clean(t.Context(), cairn.CleanOptions{Thorough: true}); err != nil {
		t.Fatal(err)
	}
	r.open()
	r.review(Options{}).wants("✓ Prompt m1")
	if _, err := r.repo.Purge(t.Context(), []string{"f"}); err != nil {
		t.Fatal(err)
	}
	if n := r.review(Options{}).hunksAccepted(); n != 1 {
		t.Errorf("%d hunks are accepted after the purge", n)
	}
	if err := r.all.Delete(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	r.turn("s", "m1", func() { r.write("new\xff", "again\n") })
	if n := r.review(Options{}).hunksAccepted(); n != 0 {
		t.Errorf("%d hunks are accepted after the deletion", n)
	}
}

func (d *driven) hunksAccepted() (n int) {
	for mark := range d.accepted {
		if mark.Path != "" {
			n++
		}
	}
	return n
}

// TestAcceptedTurnGoesOn: what a turn changes after it was accepted is not accepted, whether a step was running then or
// another one began since.
func TestAcceptedTurnGoesOn(t *testing.T) {
	t.Parallel()
	for name, running := range map[string]bool{"a step runs": true, "another step": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRecorded(t)
			step := func(id string, work func()) {
				begin := session.StepBegin{Session: "s", Message: "m1", Role: session.RoleUser, Step: id, Prompt: "Prompt m1"}
				if _, err := r.all.BeginStep(t.Context(), begin); err != nil {
					t.Fatal(err)
				}
				work()
				if _, err := r.all.EndStep(t.Context(), session.StepEnd{Session: "s", Step: id}); err != nil {
					t.Fatal(err)
				}
			}
			accept := func() { r.review(Options{}).keys("G", "a") }
			step("1", func() { r.write("first", "1\n") })
			if running {
				step("2", func() { r.write("second", "2\n"); accept(); r.write("first", "other\n"); r.write("third", "3\n") })
			} else {
				accept()
				r.review(Options{}).wants("✓ Prompt m1", "✓ A first")
				step("2", func() { r.write("third", "3\n") })
			}
			d := r.review(Options{})
			d.keys("G", "enter", "G")
			if screen := d.plainScreen(); strings.Contains(screen, "✓ Prompt") || strings.Contains(screen, "✓ A third") {
				t.Errorf("shown as accepted:\n%s", screen)
			}
			d.wants("  A third", " accepted")
			d.keys("g")
			d.wants(map[bool]string{true: "· A first", false: "✓ A first"}[running]) // its one hunk is another one, or is accepted
			d.keys("esc", "a")
			r.review(Options{}).wants("✓ Prompt m1")
		})
	}
}

// TestPlanMoved: a plan that would be another one by now is not carried out.
func TestPlanMoved(t *testing.T) {
	t.Parallel()
	r := twoTurns(t)
	d := r.review(Options{})
	d.keys("G", "enter", "enter", "x")
	r.write("f", lines(40, map[int]string{1: "mine", 5: "first, by me", 20: "second", 30: "later"}))
	before := gittest.Manifest(t, r.dir)
	d.keys("y")
	if !d.failed {
		t.Errorf("carried out:\n%s", d.plainScreen())
	}
	gittest.AssertEqual(t, r.dir, before, gittest.Manifest(t, r.dir))
}

// TestSubAgents: the work of a sub-agent is in the turn that called it, and its session is shown
// alone if it is asked for.
func TestSubAgents(t *testing.T) {
	t.Parallel()
	r := newRecorded(t)
	if _, err := r.all.BeginStep(t.Context(), session.StepBegin{Session: "s", Message: "m1", Role: session.RoleUser, Step: "1"}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.all.Begin(t.Context(), session.SessionBegin{ID: "sub", Parent: "s", Title: "Helper"}); err != nil {
		t.Fatal(err)
	}
	r.turn("sub", "c1", func() { r.write("made", "1\n") })
	if _, err := r.all.EndStep(t.Context(), session.StepEnd{Session: "s"}); err != nil {
		t.Fatal(err)
	}
	d := r.review(Options{})
	d.wants("1 turn", "A made")
	d = r.review(Options{Session: "sub"})
	d.wants("Helper", "Prompt c1", "A made")
}
