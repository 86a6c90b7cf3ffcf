package linediff

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

type triple struct {
	name               string
	base, ours, theirs string
}

var mergeCases = []struct {
	triple
	want      string
	conflicts int
}{
	{triple{name: "all empty"}, "", 0},
	{triple{"unchanged", "a\n", "a\n", "a\n"}, "a\n", 0},
	{triple{"ours alone", "a\nb\n", "a\nx\n", "a\nb\n"}, "a\nx\n", 0},
	{triple{"theirs alone", "a\nb\n", "a\nb\n", "a\nx\n"}, "a\nx\n", 0},
	{triple{"both alike", "a\nb\nc\n", "a\nx\nc\n", "a\nx\nc\n"}, "a\nx\nc\n", 0},
	{triple{"both differently", "a\nb\nc\n", "a\nx\nc\n", "a\ny\nc\n"}, "", 1},
	{triple{"apart", "a\nb\nc\n", "x\nb\nc\n", "a\nb\ny\n"}, "x\nb\ny\n", 0},
	{triple{"adjoining", "a\nb\n", "x\nb\n", "a\ny\n"}, "", 1},
	{triple{"insertion next to a change", "a\nb\nc\n", "a\nx\nc\n", "a\nb\ny\nc\n"}, "", 1},
	{triple{"insertion next to a deletion", "a\nb\nc\n", "a\nc\n", "a\nb\ny\nc\n"}, "", 1},
	{triple{"two insertions at one place", "a\nb\n", "a\nx\nb\n", "a\ny\nb\n"}, "", 1},
	{triple{"the same insertion", "a\nb\n", "a\nx\nb\n", "a\nx\nb\n"}, "a\nx\nb\n", 0},
	{triple{"the same insertion and one more", "a\nb\nc\nd\n", "a\nx\nb\nc\nd\n", "a\nx\nb\nc\ny\nd\n"}, "a\nx\nb\nc\ny\nd\n", 0},
	{triple{"both deleted", "a\nb\nc\n", "a\nc\n", "a\nc\n"}, "a\nc\n", 0},
	{triple{"deleted more", "a\nb\nc\nd\n", "a\nd\n", "a\nc\nd\n"}, "", 1},
	{triple{"all deleted against a change", "a\nb\n", "", "a\nx\n"}, "", 1},
	{triple{"both from nothing", "", "a\n", "b\n"}, "", 1},
	{triple{"both from nothing, alike", "", "a\n", "a\n"}, "a\n", 0},
	{triple{"several conflicts", lines("a b c d e f g"), lines("1 b c 2 e f 3"), lines("4 b c 5 e f 6")}, "", 3},
	{triple{"one edit spans two", lines("a b c d e f"), lines("a x c y e f"), lines("a z f")}, "", 1},
	{triple{"final newline lost, change above", "a\nb\nc\nd\n", "a\nb\nc\nd", "x\nb\nc\nd\n"}, "x\nb\nc\nd", 0},
	{triple{"final newline lost by both", "a\nb\nc", "x\nb\nc", "a\nb\nc\n"}, "x\nb\nc\n", 0},
	{triple{"final newline lost, line appended", "a\nb\n", "a\nb", "a\nb\nc\n"}, "", 1},
	{triple{"CRLF against a change", "a\nb\nc\n", "a\r\nb\r\nc\r\n", "a\nx\nc\n"}, "", 1},
	{triple{"blank lines", "a\n\n\nb\n", "a\n\n\n\nb\n", "x\n\n\nb\n"}, "x\n\n\n\nb\n", 0},
	{triple{"same function added twice", "f {\n}\n\ng {\n}\n", "f {\n}\n\nh {\n}\n\ng {\n}\n", "f {\n}\n\nh {\n}\n\ng {\n}\n"}, "f {\n}\n\nh {\n}\n\ng {\n}\n", 0},
}

func TestMerge(t *testing.T) {
	t.Parallel()
	for _, c := range mergeCases {
		t.Run(c.name, func(t *testing.T) {
			m := Merge([]byte(c.base), []byte(c.ours), []byte(c.theirs))
			if m.Conflicts != c.conflicts || string(m.Content) != c.want {
				t.Errorf("%d conflicts, %q; want %d, %q", m.Conflicts, m.Content, c.conflicts, c.want)
			}
			if msg := newMergeOracle(t).disagreement(t, c.triple); msg != "" {
				t.Error(msg)
			}
		})
	}
}

func TestMergeBinary(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		base, ours, theirs, want string
		conflicts                int
	}{
		{"a\x00\nb\n", "a\x00\nx\n", "a\x00\nb\n", "a\x00\nx\n", 0},
		{"a\x00\nb\n", "a\x00\nb\n", "a\x00\nx\n", "a\x00\nx\n", 0},
		{"a\x00\nb\n", "a\x00\nx\n", "a\x00\nx\n", "a\x00\nx\n", 0},
		{"a\x00\nb\nc\n", "x\x00\nb\nc\n", "a\x00\nb\ny\n", "", 1},
		{"a\nb\nc\n", "a\x00\nb\nc\n", "a\nb\ny\n", "", 1},
		{"a\nb\nc\n", "a\nb\ny\n", "a\x00\nb\nc\n", "", 1},
	} {
		m := Merge([]byte(c.base), []byte(c.ours), []byte(c.theirs))
		if m.Conflicts != c.conflicts || string(m.Content) != c.want {
			t.Errorf("%q: %d conflicts, %q; want %d, %q", c.base, m.Conflicts, m.Content, c.conflicts, c.want)
		}
	}
}

// mergeOracle asks git merge-file. It is for one goroutine.
type mergeOracle struct{ dir string }

func newMergeOracle(t *testing.T) mergeOracle { return mergeOracle{t.TempDir()} }

// disagreement says how our merge differs from git's, or "". Other goroutines than
// that of the test may call it once one command has shown that there is a git.
func (o mergeOracle) disagreement(t *testing.T, c triple) string {
	t.Helper()
	for name, content := range map[string]string{"base": c.base, "ours": c.ours, "theirs": c.theirs} {
		if err := os.WriteFile(filepath.Join(o.dir, name), []byte(content), 0o666); err != nil {
			return err.Error()
		}
	}
	cmd := gitCommand(t, o.dir, "merge-file", "-p", "-q", "ours", "base", "theirs")
	want, err := cmd.Output()
	code := cmd.ProcessState.ExitCode() // the number of conflicts, at most 127
	if code < 0 || code > 127 {
		return fmt.Sprintf("%s: git merge-file: %v", c.name, err)
	}
	m := Merge([]byte(c.base), []byte(c.ours), []byte(c.theirs))
	switch {
	case (m.Conflicts > 0) != (code > 0):
		return fmt.Sprintf("%s: %d conflicts, git has %d\nbase %q\nours %q\ntheirs %q", c.name, m.Conflicts, code, c.base, c.ours, c.theirs)
	case code == 0 && !bytes.Equal(m.Content, want):
		return fmt.Sprintf("%s: merged %q, git %q\nbase %q\nours %q\ntheirs %q", c.name, m.Content, want, c.base, c.ours, c.theirs)
	}
	return ""
}

// TestMergeIsGits merges random triples and mutants of this package's source.
// Every triple costs a process; CAIRN_MERGE_CASES asks for more of them.
func TestMergeIsGits(t *testing.T) {
	t.Parallel()
	gitCommand(t, t.TempDir()) // skips here, not in the goroutines below
	n := gittest.Rounds(2000)
	if runtime.GOOS == "windows" {
		n = gittest.Rounds(300) // processes are slow there
	}
	if s := os.Getenv("CAIRN_MERGE_CASES"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	r := rand.New(rand.NewPCG(9, 10))
	todo := make(chan triple)
	var wg sync.WaitGroup
	var mu sync.Mutex
	clean, conflicting := 0, 0
	for range 2 {
		wg.Go(func() {
			oracle := newMergeOracle(t)
			for c := range todo {
				msg := oracle.disagreement(t, c)
				mu.Lock()
				if Merge([]byte(c.base), []byte(c.ours), []byte(c.theirs)).Conflicts == 0 {
					clean++
				} else {
					conflicting++
				}
				mu.Unlock()
				if msg != "" {
					t.Error(msg)
				}
			}
		})
	}
	source := sourceTexts(t)
	for i := range n {
		todo <- randomTriple(r, i, source)
	}
	close(todo)
	wg.Wait()
	t.Logf("%d clean, %d with conflicts", clean, conflicting)
	if min(clean, conflicting) < n/10 {
		t.Error("the triples are lopsided")
	}
}

func sourceTexts(t *testing.T) [][]byte {
	t.Helper()
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var texts [][]byte
	for _, name := range names {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, content)
	}
	return texts
}

func randomTriple(r *rand.Rand, i int, source [][]byte) triple {
	name := fmt.Sprintf("triple %d", i)
	if i%3 == 0 {
		base := source[r.IntN(len(source))]
		return triple{name, string(base), string(mutant(r, base)), string(mutant(r, base))}
	}
	v := vocabularyOf(r, 1+r.IntN(12))
	if i%3 == 1 {
		v = vocabularyOf(r, 1+r.IntN(200))
	}
	base := v.text(r, 1+r.IntN([]int{8, 30, 200}[r.IntN(3)]))
	share := r.Float64() * r.Float64() * r.Float64()
	ours, theirs := v.edited(r, base, share), v.edited(r, base, share)
	return triple{name, string(clipNewline(r, base)), string(clipNewline(r, ours)), string(clipNewline(r, theirs))}
}

// TestMergeOfLargeTexts merges changes in every tenth line of a large text.
func TestMergeOfLargeTexts(t *testing.T) {
	t.Parallel()
	var base, ours, theirs, want strings.Builder
	for i := range 50000 {
		fmt.Fprintf(&base, "line %d\n", i)
		byOurs, byTheirs := "", ""
		switch i % 10 {
		case 0:
			byOurs = " ours"
		case 5:
			byTheirs = " theirs"
		}
		fmt.Fprintf(&ours, "line %d%s\n", i, byOurs)
		fmt.Fprintf(&theirs, "line %d%s\n", i, byTheirs)
		fmt.Fprintf(&want, "line %d%s%s\n", i, byOurs, byTheirs)
	}
	m := Merge([]byte(base.String()), []byte(ours.String()), []byte(theirs.String()))
	if m.Conflicts > 0 || string(m.Content) != want.String() {
		t.Errorf("%d conflicts, %d bytes, want %d", m.Conflicts, len(m.Content), want.Len())
	}
}
