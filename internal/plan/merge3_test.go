package plan

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/statetest"
)

// side is what stands at a path in a test; "" in kind is nothing.
type side struct {
	kind, text string
	perm       uint16
}

const lines = "1\n2\n3\n4\n5\n6\n7\n8\n9\n"

// sides are ends of paths that differ from each other in existence, kind, contents or bits.
var sides = []side{
	{},
	{"file", lines, 0o644},
	{"file", lines, 0o600},
	{"file", lines, 0o755},
	{"file", "one\n" + lines[2:], 0o644},
	{"file", "one\n" + lines[2:], 0o755},
	{"file", "eins\n" + lines[2:], 0o644},
	{"file", lines[:len(lines)-2] + "nine\n", 0o644},
	{"file", "a\x00b", 0o644},
	{"file", "a\x00c", 0o644},
	{"link", "one", 0o777},
	{"link", "two", 0o777},
}

func (s side) end() history.PathEnd {
	id := object.Sum(object.Blob, []byte(s.text))
	switch {
	case s.kind == "":
		return history.PathEnd{}
	case s.kind == "link":
		return history.PathEnd{Entry: &object.Entry{Mode: object.Symlink, ID: id}, Perm: s.perm}
	case s.perm&0o100 != 0:
		return history.PathEnd{Entry: &object.Entry{Mode: object.Executable, ID: id}, Perm: s.perm}
	}
	return history.PathEnd{Entry: &object.Entry{Mode: object.Regular, ID: id}, Perm: s.perm}
}

// TestMerge3 compares Merge3 with git merge-file for contents and with a table of its own
// for everything else, for all combinations of ends and policies.
func TestMerge3(t *testing.T) {
	t.Parallel()
	store, oracle := statetest.NewStore(t), newMergeOracle(t)
	files, stored := make(map[string]string), make(map[object.ID]bool)
	for i, s := range sides {
		files[string(rune('a'+i))] = s.text
		stored[object.Sum(object.Blob, []byte(s.text))] = true
	}
	statetest.NewState(t, store, files)
	reasons := make(map[string]int)
	for _, base := range sides {
		for _, ours := range sides {
			for _, theirs := range sides {
				for _, policy := range []Policy{Merge, Overwrite, Keep, Fail} {
					m := NewTextMerger(store)
					end, reason, err := Merge3(base.end(), ours.end(), theirs.end(), policy, m.Contents)
					if want, wantReason := oracle.merge3(t, base, ours, theirs, policy); err != nil || !end.Same(want.end()) || reason != wantReason {
						t.Errorf("%s: base %v, ours %v, theirs %v: %v, %q, %v; want %v, %q", policy, base, ours, theirs, end, reason, err, want, wantReason)
					}
					checkMerged(t, m, end, reason)
					if end.Entry != nil && m.Merged[end.Entry.ID] == nil && !stored[end.Entry.ID] {
						t.Errorf("base %v, ours %v, theirs %v: the merged contents are lost", base, ours, theirs)
					}
					reasons[reason]++
				}
			}
		}
	}
	for _, reason := range []string{"", ReasonChangedSince, ReasonOverlap, ReasonNotText, ReasonGoneSince, ReasonMadeSince} {
		if reasons[reason] < 10 {
			t.Errorf("reason %q in %d combinations only", reason, reasons[reason])
		}
	}
}

// checkMerged checks that a merger holds what it has merged, and nothing of a failed merge.
func checkMerged(t *testing.T, m *TextMerger, end history.PathEnd, reason string) {
	t.Helper()
	for id, content := range m.Merged {
		if object.Sum(object.Blob, content) != id || reason != "" || end.Entry.ID != id {
			t.Errorf("%q is kept as %s; the merge gave %v, %q", content, id, end, reason)
		}
	}
}

// mergeOracle merges by git.
type mergeOracle struct {
	git, dir string
	known    map[[3]string]gitMerge
}

type gitMerge struct{ text, reason string }

func newMergeOracle(t *testing.T) *mergeOracle {
	t.Helper()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("no git to compare with:", err)
	}
	return &mergeOracle{git, t.TempDir(), make(map[[3]string]gitMerge)}
}

// merge3 is what a policy wants at a path.
func (o *mergeOracle) merge3(t *testing.T, base, ours, theirs side, policy Policy) (side, string) {
	t.Helper()
	if policy == Overwrite || ours == theirs || ours == base {
		return theirs, ""
	}
	if policy != Merge {
		return ours, "changed since"
	}
	for _, absent := range []struct {
		side   side
		reason string
	}{{ours, "deleted since"}, {base, "made since by another writer"}, {theirs, "changed since"}} {
		if absent.side.kind == "" {
			return ours, absent.reason
		}
	}
	if theirs == base && base.kind == "link" && ours.kind == "link" {
		return ours, ""
	}
	if base.kind != "file" || ours.kind != "file" || theirs.kind != "file" {
		return ours, "changed since, and not a text that could be merged"
	}
	content := o.contents(t, base.text, ours.text, theirs.text)
	if content.reason != "" {
		return ours, content.reason
	}
	var perm uint16
	for bit := uint16(1); bit <= 0o777; bit <<= 1 {
		if from := ours.perm & bit; from != base.perm&bit {
			perm |= from
		} else {
			perm |= theirs.perm & bit
		}
	}
	return side{"file", content.text, perm}, ""
}

// contents merges three texts with git merge-file, which refuses binary files. Those are
// merged only where one side equals the base.
func (o *mergeOracle) contents(t *testing.T, base, ours, theirs string) gitMerge {
	t.Helper()
	switch base {
	case ours:
		return gitMerge{theirs, ""}
	case theirs:
		return gitMerge{ours, ""}
	}
	key := [3]string{base, ours, theirs}
	if _, ok := o.known[key]; !ok {
		o.known[key] = o.ask(t, key)
	}
	return o.known[key]
}

func (o *mergeOracle) ask(t *testing.T, texts [3]string) gitMerge {
	t.Helper()
	for i, name := range []string{"base", "ours", "theirs"} {
		if err := os.WriteFile(filepath.Join(o.dir, name), []byte(texts[i]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(o.git, "merge-file", "-p", "-q", "ours", "base", "theirs")
	cmd.Dir = o.dir
	cmd.Env = []string{
		"HOME=" + o.dir, "PATH=" + os.Getenv("PATH"), "LC_ALL=C", "GIT_CONFIG_GLOBAL=" + os.DevNull,
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CEILING_DIRECTORIES=" + filepath.Dir(o.dir), "TMPDIR=" + o.dir,
	}
	out, err := cmd.Output()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return gitMerge{string(out), ""}
	case !errors.As(err, &exit):
		t.Fatal(err)
	case exit.ExitCode() == 255: // refused
		return gitMerge{"", "changed since, and not a text that could be merged"}
	}
	return gitMerge{"", "changed since, and the changes overlap"}
}

func TestMerge3FailsWithItsContents(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	end, _, err := Merge3(sides[1].end(), sides[4].end(), sides[7].end(), Merge, func(_, _, _ *object.Entry) (object.ID, string, error) { return object.ID{}, "", broken })
	if !errors.Is(err, broken) || !end.Same(sides[4].end()) {
		t.Errorf("got %v, %v", end, err)
	}
}
