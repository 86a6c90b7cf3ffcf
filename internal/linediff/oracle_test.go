package linediff

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// textPair is one case for the oracle.
type textPair struct {
	name string
	a, b []byte
}

// verdict is what git says about a pair. A pair it does not mention is equal.
type verdict struct {
	stat   Stat
	binary bool
	patch  []byte // the hunks alone
}

// gitCommand returns a git that sees no repository, no configuration and no
// attributes; without a git the test is skipped.
func gitCommand(t testing.TB, dir string, args ...string) *exec.Cmd {
	t.Helper()
	path, err := exec.LookPath("git")
	if err != nil {
		t.Skip("no git to compare with:", err)
	}
	cmd := exec.Command(path, args...)
	cmd.Dir = dir
	cmd.Stderr = os.Stderr
	cmd.Env = []string{
		"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "LC_ALL=C", "GIT_CONFIG_GLOBAL=" + os.DevNull,
		"GIT_CONFIG_NOSYSTEM=1", "GIT_ATTR_NOSYSTEM=1", "GIT_CEILING_DIRECTORIES=" + filepath.Dir(dir), "TMPDIR=" + dir,
	}
	return cmd
}

// writePairs lays the pairs out as the trees old and new below a new directory.
func writePairs(t testing.TB, pairs []textPair) string {
	t.Helper()
	dir := t.TempDir()
	for i, p := range pairs {
		name := fmt.Sprintf("%03d/%06d", i/500, i)
		for _, side := range []struct {
			tree    string
			content []byte
		}{{"old", p.a}, {"new", p.b}} {
			file := filepath.Join(dir, side.tree, name)
			if i%500 == 0 {
				if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.WriteFile(file, side.content, 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir
}

// askGit has git compare the trees old and new below dir and hands each verdict
// to see, by path within the trees. It runs git twice: the counts that it prints
// need not be those of its patches.
func askGit(t testing.TB, dir string, context int, see func(path string, v verdict)) {
	t.Helper()
	stats := map[string]verdict{}
	gitRun(t, dir, func(r *bufio.Reader) error { return readNumstat(r, stats) }, "--numstat", "-z")
	gitRun(t, dir, func(r *bufio.Reader) error {
		return readPatches(r, func(path string, patch []byte) {
			v, ok := stats[path]
			if !ok {
				t.Errorf("git has a patch but no counts for %s", path)
			}
			v.patch = patch
			see(path, v)
		})
	}, "--patch", "--unified="+strconv.Itoa(context))
}

func gitRun(t testing.TB, dir string, read func(*bufio.Reader) error, args ...string) {
	t.Helper()
	args = append([]string{
		"-c", "core.quotePath=false", "-c", "core.fsmonitor=false", "diff", "--no-index", "--no-renames", "--no-prefix",
		"--no-ext-diff", "--no-textconv", "--no-color", "--full-index",
	}, append(args, "old", "new")...)
	cmd := gitCommand(t, dir, args...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := read(bufio.NewReaderSize(out, 1<<20)); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil && cmd.ProcessState.ExitCode() != 1 { // 1: there are differences
		t.Fatal(err)
	}
}

// readNumstat reads "added TAB deleted TAB NUL old NUL new NUL" records.
func readNumstat(r *bufio.Reader, into map[string]verdict) error {
	for {
		head, err := r.ReadString(0)
		if err == io.EOF && head == "" {
			return nil
		} else if err != nil {
			return err
		}
		fields := strings.Split(strings.TrimSuffix(head, "\x00"), "\t")
		if len(fields) != 3 {
			return fmt.Errorf("numstat record %q", head)
		}
		path := fields[2]
		if path == "" { // two names follow
			if _, err = r.ReadString(0); err == nil {
				path, err = r.ReadString(0)
			}
			if err != nil {
				return err
			}
		}
		var v verdict
		if v.binary = fields[0] == "-"; !v.binary {
			if v.stat.Added, err = strconv.Atoi(fields[0]); err == nil {
				v.stat.Deleted, err = strconv.Atoi(fields[1])
			}
			if err != nil {
				return err
			}
		}
		into[strings.TrimPrefix(strings.TrimSuffix(path, "\x00"), "new/")] = v
	}
}

// readPatches cuts git's output into the patches of the files and drops what
// comes before the first hunk of each.
func readPatches(r *bufio.Reader, see func(path string, patch []byte)) error {
	const start = "diff --git old/"
	var path string
	var patch []byte
	for {
		line, err := r.ReadBytes('\n')
		if bytes.HasPrefix(line, []byte(start)) || err == io.EOF {
			if path != "" {
				see(path, patch)
			}
			if err == io.EOF {
				return nil
			}
			rest := strings.TrimSuffix(string(line[len(start):]), "\n")
			path = rest[:(len(rest)-len(" new/"))/2]
			patch = nil
		} else if err != nil {
			return err
		} else if len(patch) > 0 || bytes.HasPrefix(line, []byte("@@ ")) {
			patch = append(patch, line...)
		}
	}
}

// unified returns what WriteUnified writes.
func unified(t testing.TB, a, b []byte, context int) ([]byte, Stat) {
	t.Helper()
	var buf bytes.Buffer
	if context == 0 {
		context = -1
	}
	st, err := WriteUnified(&buf, a, b, Options{Context: context})
	if err != nil {
		t.Fatal(err)
	}
	return buf.Bytes(), st
}

// tally counts the pairs on which git and this package disagree; own are those on
// which the package disagrees with itself.
type tally struct{ pairs, counts, texts, own int }

func (s tally) String() string {
	return fmt.Sprintf("%d pairs, %d counts differ (%.3f %%), %d texts differ (%.3f %%)",
		s.pairs, s.counts, percent(s.counts, s.pairs), s.texts, percent(s.texts, s.pairs))
}

func percent(n, of int) float64 { return 100 * float64(n) / float64(max(of, 1)) }

// check compares one verdict with ours and says what differs, or "".
func (s *tally) check(t testing.TB, a, b []byte, context int, v verdict) string {
	t.Helper()
	s.pairs++
	if binary := Binary(a) || Binary(b); binary != v.binary {
		s.counts++
		s.texts++
		return fmt.Sprintf("binary %v, git says %v", binary, v.binary)
	} else if binary {
		return ""
	}
	var what []string
	if st := Count(a, b); st != v.stat {
		s.counts++
		what = append(what, fmt.Sprintf("counts %v, git says %v", st, v.stat))
	}
	patch, st := unified(t, a, b, context)
	if !bytes.Equal(patch, v.patch) {
		s.texts++
		what = append(what, "text differs")
	}
	if printed := countMarks(patch); printed != st {
		s.own++
		what = append(what, fmt.Sprintf("returned %v, printed %v", st, printed))
	}
	return strings.Join(what, "; ")
}

// countMarks counts the lines of hunks that begin with '+' and '-'.
func countMarks(patch []byte) Stat {
	var st Stat
	for line := range bytes.Lines(patch) {
		switch line[0] {
		case '+':
			st.Added++
		case '-':
			st.Deleted++
		}
	}
	return st
}

// comparePairs asks git about the pairs, with each number of lines of context, and
// fails for each that comes out otherwise. It returns the tally of the first.
func comparePairs(t *testing.T, pairs []textPair, contexts ...int) tally {
	t.Helper()
	dir := writePairs(t, pairs)
	var first tally
	for i, context := range contexts {
		sum := compareTree(t, dir, pairs, context)
		t.Logf("linediff: context %d: %v", context, sum)
		if i == 0 {
			first = sum
		}
	}
	return first
}

// compareTree is comparePairs for what writePairs wrote. Pairs of equal texts
// must have no verdict.
func compareTree(t *testing.T, dir string, pairs []textPair, context int) (sum tally) {
	t.Helper()
	told := 0
	seen := make([]bool, len(pairs))
	askGit(t, dir, context, func(path string, v verdict) {
		i, err := strconv.Atoi(filepath.Base(path))
		if err != nil {
			t.Fatal(err)
		}
		p := pairs[i]
		seen[i] = true
		what := sum.check(t, p.a, p.b, context, v)
		if what == "" {
			return
		}
		if told++; told > 5 {
			t.Fail()
			return
		}
		ours, _ := unified(t, p.a, p.b, context)
		t.Errorf("%q, context %d: %s\nours\n%.3000s\ngit's\n%.3000s", p.name, context, what, ours, v.patch)
	})
	for i, p := range pairs {
		if !seen[i] && !bytes.Equal(p.a, p.b) {
			t.Errorf("%q: git printed nothing", p.name)
		}
	}
	return sum
}
