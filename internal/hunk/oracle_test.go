package hunk

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/linediff"
)

// oracleCase is a file of which some hunks are taken back.
type oracleCase struct {
	before, after []byte
	chosen        []Piece
}

// randomCase makes a text of few different lines, so that edits slide and repeat, edits it, and
// chooses some of the hunks.
func randomCase(r *rand.Rand) oracleCase {
	var lines []string
	for range r.IntN(100) {
		lines = append(lines, randomLine(r))
	}
	after := append([]string(nil), lines...)
	for range r.IntN(16) {
		at := r.IntN(len(after) + 1)
		switch {
		case r.IntN(3) == 0 || at == len(after):
			after = append(after[:at:at], append([]string{randomLine(r)}, after[at:]...)...)
		case r.IntN(2) == 0:
			after = append(after[:at:at], after[at+1:]...)
		default:
			after[at] = randomLine(r)
		}
	}
	c := oracleCase{before: randomText(r, lines), after: randomText(r, after)}
	share, end := r.Float64(), -7
	for _, h := range Of("f", c.before, c.after) {
		if r.Float64() < share && h.Edit.B0 > end+6 { // git joins hunks that are nearer
			c.chosen, end = append(c.chosen, h), h.Edit.B1
		}
	}
	return c
}

func randomLine(r *rand.Rand) string {
	end := "\n"
	if r.IntN(5) == 0 {
		end = "\r\n"
	}
	return []string{"", "{", "}", "a", "b", "func f() {", "\treturn", "\xff\xfe", "c d"}[r.IntN(9)] + end
}

func randomText(r *rand.Rand, lines []string) []byte {
	text := strings.Join(lines, "")
	if r.IntN(4) == 0 {
		text = strings.TrimSuffix(text, "\n")
	}
	return []byte(text)
}

// TestTakeBackIsGits takes chosen hunks of random texts back with "git apply -R".
func TestTakeBackIsGits(t *testing.T) {
	t.Parallel()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("no git to compare with:", err)
	}
	rounds := 12
	if testing.Short() {
		rounds = 3
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range rounds {
		var cases []oracleCase
		for range 300 {
			cases = append(cases, randomCase(r))
		}
		applyReversed(t, git, cases)
	}
}

// applyReversed has git take the chosen hunks of all cases back in one go.
func applyReversed(t *testing.T, git string, cases []oracleCase) {
	t.Helper()
	dir := t.TempDir()
	var patch bytes.Buffer
	for i, c := range cases {
		file := fmt.Sprintf("f%d", i)
		if err := os.WriteFile(filepath.Join(dir, file), c.after, 0o666); err != nil {
			t.Fatal(err)
		}
		if len(c.chosen) == 0 {
			continue
		}
		fmt.Fprintf(&patch, "diff --git a/%s b/%s\n--- a/%s\n+++ b/%s\n", file, file, file, file)
		patch.Write(patchOf(c))
	}
	cmd := exec.Command(git, "apply", "-R", "--whitespace=nowarn", "-")
	cmd.Dir, cmd.Stdin = dir, bytes.NewReader(patch.Bytes())
	cmd.Env = []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "LC_ALL=C", "GIT_CONFIG_GLOBAL=" + os.DevNull,
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CEILING_DIRECTORIES=" + filepath.Dir(dir)}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git apply: %v\n%s\n%s", err, out, patch.Bytes())
	}
	for i, c := range cases {
		want, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("f%d", i)))
		if err != nil {
			t.Fatal(err)
		}
		var edits []linediff.Edit
		for _, h := range c.chosen {
			edits = append(edits, h.Edit)
		}
		if got := TakeBack(c.before, c.after, edits); !bytes.Equal(got, want) {
			t.Fatalf("before %q\nafter  %q\nhunks  %v\ngot    %q\ngit    %q", c.before, c.after, c.chosen, got, want)
		}
	}
}

// patchOf is a patch from what is wanted to the text after: git's usual patch, with three lines
// of context that hunks which are not chosen may have brought.
func patchOf(c oracleCase) []byte {
	var patch []byte
	old, now := linediff.Lines(c.before), linediff.Lines(c.after)
	grown := 0
	for _, h := range c.chosen {
		e := h.Edit
		from, to := max(0, e.B0-3), min(len(now), e.B1+3)
		more := e.A1 - e.A0 - (e.B1 - e.B0)
		patch = append(patch, fmt.Sprintf("@@ -%d,%d +%d,%d @@\n", from+grown+1, to-from+more, from+1, to-from)...)
		patch = appendLines(patch, ' ', now[from:e.B0])
		patch = appendLines(patch, '-', old[e.A0:e.A1])
		patch = appendLines(patch, '+', now[e.B0:e.B1])
		patch = appendLines(patch, ' ', now[e.B1:to])
		grown += more
	}
	return patch
}

func appendLines(patch []byte, mark byte, lines [][]byte) []byte {
	for _, line := range lines {
		patch = append(append(patch, mark), line...)
		if !bytes.HasSuffix(line, []byte{'\n'}) {
			patch = append(patch, "\n\\ No newline at end of file\n"...)
		}
	}
	return patch
}

// FuzzTakeBack checks what holds for any two texts: all hunks together are the difference, none
// are nothing, and any lines may be named.
func FuzzTakeBack(f *testing.F) {
	f.Add([]byte("a\nb\nc\n"), []byte("a\nB\nc"), uint8(1), uint8(2))
	f.Add([]byte(""), []byte("a"), uint8(0), uint8(0))
	f.Add([]byte("a\r\n\r\n"), []byte("\r\na\x00"), uint8(3), uint8(1))
	f.Fuzz(func(t *testing.T, before, after []byte, from, to uint8) {
		var edits []linediff.Edit
		for _, h := range Of("f", before, after) {
			edits = append(edits, h.Edit)
		}
		if len(edits) > 0 != !bytes.Equal(before, after) {
			t.Errorf("%d hunks", len(edits))
		}
		if !bytes.Equal(TakeBack(before, after, edits), before) {
			t.Error("all hunks together are not the difference")
		}
		if !bytes.Equal(TakeBack(before, after, nil), after) {
			t.Error("no hunks are a difference")
		}
		TakeBack(before, after, append(Within(edits, Range{int(from), int(to)}, Range{int(to), 300}), edits[:len(edits)/2]...))
	})
}
