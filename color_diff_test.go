package cairn_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// TestColoredDiffEqualsGit compares the colours of diffs and word diffs with those of git, with
// blanks where they should not be, CRLF and ends of files without a newline.
func TestColoredDiffEqualsGit(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	random := rand.New(rand.NewPCG(7, 7))
	old, now := gittest.Tree{}, make(map[string]string)
	for i := range gittest.Rounds(400) {
		text := wordy(random)
		name := fmt.Sprintf("f %04d", i)
		edited := reworded(random, text)
		switch random.IntN(4) {
		case 0:
			edited = strings.ReplaceAll(edited, "y", " \ty \r")
		case 1:
			edited += "\n \n\n"
		case 2:
			edited = strings.ReplaceAll(edited, "\n", "\r\n")
		}
		old[name], now[name] = gittest.File(text), edited
	}
	f := newFixture(t, old)
	r := f.repo()
	before := f.trackBy(r).Checkpoint
	for name := range now {
		f.write(name, now[name])
	}
	f.write("new\tname", "\n\n")
	after := f.trackBy(r).Checkpoint
	for _, words := range []cairn.Words{cairn.NoWords, cairn.PlainWords, cairn.ColorWords, cairn.PorcelainWords} {
		var text bytes.Buffer
		if err := r.Diff(background, &text, before, after, cairn.DiffOptions{Words: words, Color: true}); err != nil {
			t.Fatal(err)
		}
		mode := "none"
		if words != cairn.NoWords {
			mode = string(words)
		}
		want := o.In(f.root, "--git-dir", r.StoreDir(), "-c", "core.abbrev=7", "diff", "--no-renames",
			"--word-diff="+mode, "--color=always", before, after)
		sections := strings.Split(text.String(), "diff --git")
		for i, section := range strings.Split(want, "diff --git") {
			if i >= len(sections) || strings.TrimSuffix(sections[i], "\n") != strings.TrimSuffix(section, "\n") {
				t.Fatalf("%s:\n%q\nis not\n%q", mode, sections[min(i, len(sections)-1)], section)
			}
		}
	}
}
