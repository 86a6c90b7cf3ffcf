package transfer

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/git"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
)

// plainRepository is a bare repository without settings.
func plainRepository(t *testing.T, o *gittest.Oracle, args ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "fleet.git")
	o.In(filepath.Dir(dir), append(append([]string{"init", "-q", "--bare"}, args...), dir)...)
	return dir
}

// gitCalls is a git that writes down which commands a push starts, but for maintenance, which some pushes start. before
// is a line of a shell, to be carried out before each: $arg is its name, $real the program.
func gitCalls(t *testing.T, before string) (binary *git.Binary, calls func() string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the wrapper of git is a script for a shell")
	}
	real, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	list := filepath.Join(dir, "list")
	script := `#!/bin/sh
real='` + real + `'
for arg; do
	case $arg in
	push|for-each-ref|pack-objects|unpack-objects|index-pack|rev-list|update-ref|maintenance)
		echo $arg >>'` + list + `'
		` + before + `
		break;;
	esac
done
exec "$real" "$@"
`
	gittest.Create(t, dir, gittest.Tree{"git": gittest.Exec(script)})
	return git.NewBinary(filepath.Join(dir, "git")), func() string {
		data, err := os.ReadFile(list)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(list); err != nil {
			t.Fatal(err)
		}
		return strings.Join(slices.DeleteFunc(strings.Fields(string(data)), func(name string) bool { return name == "maintenance" }), " ")
	}
}

// pushBy pushes by a git.
func (m *machine) pushBy(binary *git.Binary, where string) (pushed []string, err error) {
	m.Helper()
	remote, err := m.open(where)
	if err != nil {
		m.Fatal(err)
	}
	remote.git = binary
	lines, err := m.ownLines()
	if err != nil {
		m.Fatal(err)
	}
	pushed, err = m.pushTo(m.Context(), remote, lines, true, func(odb.Ref) bool { return true })
	slices.Sort(pushed)
	return pushed, err
}

// many are files with contents of their own.
func many(n int, text string) map[string]string {
	files := make(map[string]string)
	for i := range n {
		files[fmt.Sprint("many/", i)] = fmt.Sprintln(text, i)
	}
	return files
}

// TestPlainPush: a push without a receiving git leaves the same refs on a remote as git push, and whole objects.
func TestPlainPush(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	t.Run("files", func(t *testing.T) {
		t.Parallel()
		comparePushes(t, o.For(t))
	})
	t.Run("reftable", func(t *testing.T) {
		t.Parallel()
		o := o.For(t)
		o.NeedVersion(2, 45)
		comparePushes(t, o, "--ref-format=reftable")
	})
}

// comparePushes pushes to a remote made with some options, and by git push to another one.
func comparePushes(t *testing.T, o *gittest.Oracle, options ...string) {
	t.Helper()
	binary, calls := gitCalls(t, ":")
	f := newMachine(t)
	plain, bound := plainRepository(t, o, options...), bareRepository(t, o) // the second one checks what comes
	push := func(what, want string) {
		t.Helper()
		got, err := f.pushBy(binary, plain)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if now := calls(); now != want {
			t.Errorf("%s: git is called for %s, want %s", what, now, want)
		}
		if by := f.push(bound); !slices.Equal(got, by) {
			t.Errorf("%s: pushed %q, git push %q", what, got, by)
		}
		if here, there := refsOf(o, plain), refsOf(o, bound); withoutNotes(here) != withoutNotes(there) {
			t.Errorf("%s: refs\n%s\ngit push\n%s", what, here, there)
		}
		o.In(plain, "fsck", "--strict", "--no-dangling")
	}
	const few = "for-each-ref pack-objects unpack-objects rev-list update-ref"
	f.track(map[string]string{"a": "1\n"})
	push("the first push", "for-each-ref push")
	f.track(map[string]string{"a": "2\n"})
	push("a line goes on", few)
	f.pin("@", "p")
	push("a pin is new", strings.Replace(few, "unpack-objects ", "", 1)) // it leads to nothing new
	f.track(map[string]string{"a": "3\n"})
	if err := f.Unpin(t.Context(), "p"); err != nil {
		t.Fatal(err)
	}
	f.pin("@", "p")
	push("a pin moves", few)
	f.track(many(2*fewObjects, "x"))
	push("many objects", strings.Replace(few, "unpack-objects", "index-pack", 1))
	o.In(plain, "pack-refs", "--all")
	f.track(many(2*fewObjects, "y"))
	f.track(many(3, "z"))
	push("packed refs", strings.Replace(few, "unpack-objects", "index-pack", 1))
	f.removeLines()
	f.track(map[string]string{"a": "4\n"})
	push("a line was begun again", "for-each-ref push push")
	f.track(map[string]string{"a": "5\n"})
	push("and goes on under its old name", "for-each-ref push push")
	g := f.other()
	g.fetch(plain)
	h := f.other()
	h.fetch(bound)
	if got, want := refsOf(o, g.DB.Dir()), refsOf(o, h.DB.Dir()); got != want {
		t.Errorf("fetched\n%s\nfrom the other\n%s", got, want)
	}
}

// withoutNotes drops the notes about stores, which hold the time of the push.
func withoutNotes(refs string) string {
	var keep []string
	for line := range strings.Lines(refs) {
		if !strings.HasPrefix(line, refAbout) {
			keep = append(keep, line)
		}
	}
	return strings.Join(keep, "")
}

// TestPlainPushOfManyMachines: lines of others stay, fetched ones and others.
func TestPlainPushOfManyMachines(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	binary, calls := gitCalls(t, ":")
	dir := plainRepository(t, o)
	f := newMachine(t)
	f.track(many(2*fewObjects, "x"))
	f.push(dir)
	g := f.other()
	g.track(map[string]string{"a": "1\n"})
	g.push(dir)
	g.fetch(dir)
	before := refsOf(o, dir)
	g.track(map[string]string{"a": "2\n"})
	if _, err := g.pushBy(binary, dir); err != nil {
		t.Fatal(err)
	}
	if now := calls(); strings.Contains(now, "push") {
		t.Errorf("git is called for %s", now)
	}
	changed := 0
	after := refsOf(o, dir)
	for line := range strings.Lines(before) {
		if !strings.Contains(after, line) {
			changed++
		}
	}
	if changed != 1 {
		t.Errorf("%d refs have changed:\n%s\nthen\n%s", changed, before, after)
	}
	o.In(dir, "fsck", "--strict", "--no-dangling")
}

// TestPlainPushReadsNoOtherRef: a ref of a machine that was not fetched is not looked at, loose as it is.
func TestPlainPushReadsNoOtherRef(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	binary, calls := gitCalls(t, ":")
	dir := plainRepository(t, o)
	f := newMachine(t)
	f.track(map[string]string{"a": "1\n"})
	f.push(dir)
	gittest.Create(t, dir, gittest.Tree{"refs/cairn/0123456789abcdef/fedcba9876543210/tracks/x": gittest.File("no id\n")})
	f.track(map[string]string{"a": "2\n"})
	pushed, err := f.pushBy(binary, dir)
	if err != nil || len(pushed) != 1 {
		t.Fatalf("pushed %q, %v", pushed, err)
	}
	if now := calls(); strings.Contains(now, "push") {
		t.Errorf("git is called for %s", now)
	}
}

// TestGitPushIsNeeded lists what a push without a receiving git leaves to git push.
func TestGitPushIsNeeded(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	script := gittest.Exec("#!/bin/sh\nexit 0\n")
	for name, test := range map[string]struct {
		config []string
		tree   gittest.Tree
		plain  bool
	}{
		"nothing":             {plain: true},
		"shared":              {config: []string{"receive.denyNonFastForwards", "true"}, plain: true},
		"shallow lines":       {config: []string{"receive.shallowUpdate", "true"}, plain: true},
		"checks":              {config: []string{"receive.fsckObjects", "true"}},
		"checks of all":       {config: []string{"transfer.fsckObjects", "true"}},
		"a limit":             {config: []string{"receive.maxInputSize", "1000000"}},
		"hidden refs":         {config: []string{"transfer.hideRefs", "refs/none/"}},
		"hooks elsewhere":     {config: []string{"core.hooksPath", "/nowhere"}},
		"a configured hook":   {config: []string{"hook.x.command", "true"}},
		"a hook":              {tree: gittest.Tree{"hooks": gittest.Dir(), "hooks/update": script}},
		"a hook of any name":  {tree: gittest.Tree{"hooks": gittest.Dir(), "hooks/reference-transaction": script}},
		"an included setting": {config: []string{"include.path", "more"}, tree: gittest.Tree{"more": gittest.File("[receive]\n\tautogc = true\n")}},
		"an example of hooks": {tree: gittest.Tree{"hooks": gittest.Dir(), "hooks/update.sample": script}, plain: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := o.For(t)
			binary, calls := gitCalls(t, ":")
			dir := plainRepository(t, o, "--template=")
			f := newMachine(t)
			f.track(map[string]string{"a": "1\n"})
			f.push(dir)
			if test.config != nil {
				o.In(dir, append([]string{"config"}, test.config...)...)
			}
			gittest.Create(t, dir, test.tree)
			f.track(map[string]string{"a": "2\n"})
			pushed, err := f.pushBy(binary, dir)
			if err != nil || len(pushed) != 1 {
				t.Fatalf("pushed %q, %v", pushed, err)
			}
			if now := calls(); strings.Contains(now, "push") == test.plain {
				t.Errorf("git is called for %s", now)
			}
		})
	}
}

// TestPlainPushOfCutLines: a new line of a store that keeps no beginnings may be refused, so git push sends it. A line that
// goes on needs none.
func TestPlainPushOfCutLines(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	binary, calls := gitCalls(t, ":")
	dir := plainRepository(t, o)
	f := newMachine(t)
	f.track(map[string]string{"a": "1\n"})
	second := f.track(map[string]string{"a": "2\n"})
	f.push(dir)
	if err := f.DB.SetShallow([]object.ID{history.IDOf(second)}); err != nil {
		t.Fatal(err)
	}
	f.track(map[string]string{"a": "3\n"})
	if _, err := f.pushBy(binary, dir); err != nil {
		t.Fatal(err)
	}
	if now := calls(); strings.Contains(now, "push") {
		t.Errorf("a line that goes on: git is called for %s", now)
	}
	f.pin("@", "p")
	if _, err := f.pushBy(binary, dir); err != nil {
		t.Fatal(err)
	}
	if now := calls(); !strings.Contains(now, "push") {
		t.Errorf("a new line: git is called for %s", now)
	}
	o.In(dir, "fsck", "--strict", "--no-dangling")
}

// TestPlainPushFails: whichever step fails, git push does the work.
func TestPlainPushFails(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	for _, step := range []string{"for-each-ref", "unpack-objects", "rev-list", "update-ref"} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			o := o.For(t)
			binary, calls := gitCalls(t, `[ $arg = `+step+` ] && exit 1`)
			dir := plainRepository(t, o)
			f := newMachine(t)
			f.track(map[string]string{"a": "1\n"})
			f.push(dir)
			tip := f.track(map[string]string{"a": "2\n"})
			pushed, err := f.pushBy(binary, dir)
			if err != nil || len(pushed) != 1 {
				t.Fatalf("pushed %q, %v", pushed, err)
			}
			if now := calls(); !strings.HasSuffix(now, " push") {
				t.Errorf("git is called for %s", now)
			}
			if refs := refsOf(o, dir); !strings.Contains(refs, tip.ID) {
				t.Errorf("the line has not moved:\n%s", refs)
			}
			o.In(dir, "fsck", "--strict", "--no-dangling")
		})
	}
}

// TestPlainPushMeanwhile: where another push moves a ref between the look and the move, no ref moves, and git
// push decides.
func TestPlainPushMeanwhile(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	dir := plainRepository(t, o)
	f := newMachine(t)
	f.track(map[string]string{"a": "1\n"})
	f.push(dir)
	first := f.track(map[string]string{"a": "2\n"})
	f.push(dir)
	f.track(map[string]string{"a": "3\n"})
	f.push(dir)
	line := f.lineOn(o, dir)
	binary, calls := gitCalls(t, `[ $arg = update-ref ] && GIT_DIR='`+dir+`' "$real" update-ref `+line+` `+first.ID)
	tip := f.track(map[string]string{"a": "4\n"})
	pushed, err := f.pushBy(binary, dir)
	if err != nil || len(pushed) != 1 {
		t.Fatalf("pushed %q, %v", pushed, err)
	}
	if now := calls(); !strings.HasSuffix(now, "update-ref push") {
		t.Errorf("git is called for %s", now)
	}
	if refs := refsOf(o, dir); !strings.Contains(refs, tip.ID) {
		t.Errorf("refs\n%s", refs)
	}
}

// TestPlainPushThroughNoSymref: a line that has been made to lead to a branch moves no branch.
func TestPlainPushThroughNoSymref(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	dir := plainRepository(t, o)
	f := newMachine(t)
	first := f.track(map[string]string{"a": "1\n"})
	f.push(dir)
	line := f.lineOn(o, dir)
	o.In(dir, "update-ref", "refs/heads/main", first.ID)
	o.In(dir, "symbolic-ref", line, "refs/heads/main")
	second := f.track(map[string]string{"a": "2\n"})
	f.push(dir)
	if refs := refsOf(o, dir); !strings.Contains(refs, "refs/heads/main "+first.ID) || !strings.Contains(refs, line+" "+second.ID) {
		t.Errorf("refs\n%s", refs)
	}
}

// lineOn is the line of days on a remote.
func (m *machine) lineOn(o *gittest.Oracle, dir string) (line string) {
	m.Helper()
	for ref := range strings.Lines(refsOf(o, dir)) {
		if name, _, _ := strings.Cut(ref, " "); strings.Contains(name, "/tracks/") {
			line = name
		}
	}
	return line
}

// TestPlainPushBelowARepository: a directory of a work tree is no repository, whatever lies above.
func TestPlainPushBelowARepository(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	top := t.TempDir()
	o.In(top, "init", "-q")
	gittest.Create(t, top, gittest.Tree{"below": gittest.Dir()})
	f := newMachine(t)
	f.track(map[string]string{"a": "1\n"})
	f.push(top) // the notes are there
	before := refsOf(o, top)
	f.track(map[string]string{"a": "2\n"})
	if _, err := f.Push(t.Context(), filepath.Join(top, "below")); err == nil || !strings.Contains(err.Error(), "does not appear to be a git repository") {
		t.Errorf("error %v", err)
	}
	if now := refsOf(o, top); now != before {
		t.Errorf("refs of the repository above\n%s\nbefore\n%s", now, before)
	}
	binary, calls := gitCalls(t, ":")
	if _, err := f.pushBy(binary, top); err != nil {
		t.Fatal(err)
	}
	if now := calls(); strings.Contains(now, "push") {
		t.Errorf("a repository with a work tree: git is called for %s", now)
	}
}

// TestPlainPushTidies: some pushes let git look whether it is time to tidy the remote.
func TestPlainPushTidies(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	dir := plainRepository(t, o)
	f := newMachine(t)
	var log bytes.Buffer
	f.Store.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	remote, err := f.open(dir)
	if err != nil {
		t.Fatal(err)
	}
	p := &plainPush{Transport: f.Transport, m: remote, gitDir: f.DB.Dir(), dir: dir}
	p.maintain(t.Context())
	if log.Len() > 0 {
		t.Errorf("it fails: %s", &log)
	}
	for _, auto := range []string{"true", "false"} {
		o.In(dir, "config", "maintenance.auto", auto)
		if repo, _ := plainPlace(dir); repo == nil || repo.AutoMaintenance() != (auto == "true") {
			t.Errorf("maintenance.auto = %s: %+v", auto, repo)
		}
	}
	times := 0
	for i := range 256 {
		if isTime(object.ID{byte(i)}) {
			times++
		}
	}
	if times != 256/pushesToTidy {
		t.Errorf("%d of 256 pushes let git tidy", times)
	}
}
