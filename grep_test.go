package cairn_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// grepped lists what Grep finds, each line as checkpoint, path and text.
func grepped(t *testing.T, r *cairn.Repo, pattern string, opt cairn.GrepOptions) (list []string) {
	t.Helper()
	p, err := cairn.ParsePattern(pattern, cairn.PatternOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for f, err := range r.Grep(background, p, opt) {
		if err != nil {
			t.Fatal(err)
		}
		id := ""
		if f.Checkpoint != nil {
			id = f.Checkpoint.ID
		}
		for _, n := range f.Matches {
			list = append(list, fmt.Sprint(id, " ", f.Path, " ", string(f.Lines[n])))
		}
	}
	return list
}

// TestGrepDeleted plays random histories and compares the deleted lines with those that a look at
// every file of every checkpoint finds.
func TestGrepDeleted(t *testing.T) {
	t.Parallel()
	pattern := regexp.MustCompile("[13579]$")
	for seed := range uint64(gittest.Rounds(30)) {
		random := rand.New(rand.NewPCG(seed, 3))
		f := newFixture(t, gittest.Tree{})
		r := f.repo()
		names := []string{"a", "d/b", "d/c"}
		files := make(map[string][]string)
		var ids []string
		var states []map[string][]string
		change := func() {
			name := names[random.IntN(len(names))]
			if random.IntN(4) == 0 {
				delete(files, name)
				f.remove(name)
				return
			}
			lines := slices.Clone(files[name])
			for range 1 + random.IntN(3) {
				at := random.IntN(len(lines) + 1)
				lines = slices.Replace(lines, at, min(at+random.IntN(2), len(lines)), fmt.Sprint("line ", random.IntN(40)))
			}
			files[name] = lines
			f.write(name, strings.Join(lines, "\n")+"\n")
		}
		for range 3 + random.IntN(10) {
			change()
			ids = append(ids, trackedAs(t, r, "x"))
			state := make(map[string][]string)
			for name, lines := range files {
				state[name] = lines
			}
			states = append(states, state)
		}
		change() // that no checkpoint has
		there := make(map[string]bool)
		for _, lines := range files {
			for _, line := range lines {
				there[line] = true
			}
		}
		var want []string
		told := make(map[string]bool)
		for i := len(states) - 1; i >= 0; i-- {
			for _, name := range names {
				for _, line := range states[i][name] {
					if key := name + " " + line; pattern.MatchString(line) && !there[line] && !told[key] {
						want = append(want, ids[i]+" "+key)
					}
				}
				for _, line := range states[i][name] {
					told[name+" "+line] = true
				}
			}
		}
		if got := grepped(t, r, pattern.String(), cairn.GrepOptions{Deleted: true}); !slices.Equal(got, want) {
			t.Fatalf("seed %d: deleted lines are\n%q, want\n%q", seed, got, want)
		}
	}
}

// TestGrepPattern: an expression that cannot be read is refused, and words have git's borders.
func TestGrepPattern(t *testing.T) {
	t.Parallel()
	if _, err := cairn.ParsePattern("(", cairn.PatternOptions{}); err == nil {
		t.Error("( is taken for a pattern")
	}
	f := newFixture(t, gittest.Tree{"a": gittest.File("a\n")})
	for _, none := range []*cairn.Pattern{nil, {}} {
		for file, err := range f.repo().Grep(f.Context(), none, cairn.GrepOptions{}) {
			if file != nil || err == nil {
				t.Errorf("a search without a pattern yields %v, %v", file, err)
			}
		}
	}
	p, err := cairn.ParsePattern("^a|b", cairn.PatternOptions{Word: true})
	if err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]bool{"a": true, "x a": false, "ab b": true, "xb": false, "": false, "a_b": false, "-b-": true} {
		if p.Match([]byte(line)) != want {
			t.Errorf("%q: %v", line, !want)
		}
	}
	p, err = cairn.ParsePattern("a+", cairn.PatternOptions{Word: true, IgnoreCase: true})
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(p.FindAllIndex([]byte("aa ab A-aaa"), -1), p.FindAllIndex([]byte("a a a"), 2)); got != "[[0 2] [6 7] [8 11]] [[0 1] [2 3]]" {
		t.Errorf("the matches are %s", got)
	}
}
