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

// wordy makes a text of few words.
func wordy(r *rand.Rand) string {
	var b strings.Builder
	for range r.IntN(12) {
		b.WriteString(strings.Repeat("\t", r.IntN(3)))
		for range r.IntN(6) {
			b.WriteString([]string{"if", "x", "return", "y", "else", "(a)"}[r.IntN(6)] + strings.Repeat(" ", r.IntN(3)))
		}
		b.WriteByte('\n')
	}
	if r.IntN(5) == 0 {
		return strings.TrimSuffix(b.String(), "\n")
	}
	return b.String()
}

// reworded changes some words of a text.
func reworded(r *rand.Rand, text string) string {
	words := strings.SplitAfter(text, " ")
	for range r.IntN(5) {
		at := r.IntN(len(words))
		switch r.IntN(4) {
		case 0:
			words[at] = ""
		case 1:
			words[at] = "new " + words[at]
		case 2:
			words[at] = strings.Replace(words[at], "x", "z", 1)
		default:
			words[at] += "\nmore\n"
		}
	}
	return strings.Join(words, "")
}

// TestWordDiffAgreesWithGit compares changed words with those of git diff --word-diff.
func TestWordDiffAgreesWithGit(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	random := rand.New(rand.NewPCG(4, 4))
	old, now := gittest.Tree{}, make(map[string]string)
	for i := range gittest.Rounds(600) {
		text := wordy(random)
		name := fmt.Sprintf("f%04d", i)
		old[name], now[name] = gittest.File(text), reworded(random, text)
	}
	f := newFixture(t, old)
	r := f.repo()
	before := f.trackBy(r).Checkpoint
	for name := range now {
		f.write(name, now[name])
	}
	after := f.trackBy(r).Checkpoint
	for _, words := range []cairn.Words{cairn.PlainWords, cairn.PorcelainWords} {
		for _, context := range []int{3, 1} {
			var text bytes.Buffer
			if err := r.Diff(background, &text, before, after, cairn.DiffOptions{Words: words, Context: context}); err != nil {
				t.Fatal(err)
			}
			want := o.In(f.root, "--git-dir", r.StoreDir(), "-c", "core.abbrev=7", "diff", "--no-renames", "--no-color",
				fmt.Sprint("--unified=", context), "--word-diff="+string(words), before, after)
			sections := strings.Split(text.String(), "diff --git")
			for i, section := range strings.Split(want, "diff --git") {
				if i >= len(sections) || strings.TrimSuffix(sections[i], "\n") != strings.TrimSuffix(section, "\n") {
					t.Fatalf("%s:\n%q\nis not\n%q", words, sections[min(i, len(sections)-1)], section)
				}
			}
		}
	}
}
