package cairn_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// blamed returns the lines of a file, each with the message of the checkpoint that brought it.
func blamed(t *testing.T, r *cairn.Repo, path string, opt cairn.BlameOptions) string {
	t.Helper()
	b, err := r.Blame(background, path, opt)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	of := func(o *cairn.BlameOrigin) string {
		if o.Checkpoint == nil {
			return "disk"
		}
		return o.Checkpoint.Message
	}
	for _, l := range b.Lines {
		out = append(out, fmt.Sprintf("%s:%s", l.Text, of(l.Origin)))
	}
	for _, d := range b.Deleted {
		out = append(out, fmt.Sprintf("-%s:%s:%s", d.Text, of(d.Origin), of(d.By)))
	}
	return strings.Join(out, " ")
}

func trackedAs(t *testing.T, r *cairn.Repo, message string) string {
	t.Helper()
	made, err := r.Track(background, cairn.TrackOptions{Message: message})
	if err != nil {
		t.Fatal(err)
	}
	return made.Checkpoint
}

// TestBlame follows one file through edits, a restore, renames and its deletion.
func TestBlame(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"d/f": gittest.File("a\nb\n")})
	r := f.repo()
	check := func(path, want string, opt cairn.BlameOptions) {
		t.Helper()
		if got := blamed(t, r, path, opt); got != want {
			t.Errorf("%s is %q, want %q", path, got, want)
		}
	}
	check("d/f", "a:disk b:disk", cairn.BlameOptions{})
	one := trackedAs(t, r, "one")
	f.write("d/f", "a\nx\nb\n")
	check("d/f", "a:one x:disk b:one", cairn.BlameOptions{})
	two := trackedAs(t, r, "two")
	f.write("d/f", "a\nx\n")
	trackedAs(t, r, "three")
	check("d/f", "a:one x:two -b:one:three", cairn.BlameOptions{Deleted: true})
	check("d/f", "a:one x:two b:one", cairn.BlameOptions{At: two})
	if _, err := r.Restore(background, two, cairn.RestoreOptions{}); err != nil {
		t.Fatal(err)
	}
	check("d/f", "a:one x:two b:one", cairn.BlameOptions{Deleted: true})

	moveTo(t, f, "d/f", "g")
	check("g", "a:one x:two b:one", cairn.BlameOptions{})
	trackedAs(t, r, "renamed")
	check("g", "a:one x:two b:one", cairn.BlameOptions{})
	f.write("g", "a\nx\nb\n y\n")
	check("g", "a:one x:two b:one  y:disk", cairn.BlameOptions{})
	moveTo(t, f, "g", "e/h")
	trackedAs(t, r, "renamed with an edit")
	check("e/h", "a:one x:two b:one  y:renamed with an edit", cairn.BlameOptions{})
	f.write("e/h", "a\nx\nb\n\t  y\n")
	check("e/h", "a:one x:two b:one \t  y:renamed with an edit", cairn.BlameOptions{IgnoreSpace: true})

	f.remove("e/h")
	check("e/h", "-a:one:disk -x:two:disk -b:one:disk - y:renamed with an edit:disk", cairn.BlameOptions{Deleted: true})
	for path, opt := range map[string]cairn.BlameOptions{
		"e/h": {}, "nothing": {Deleted: true}, "d": {At: one}, "d/f": {At: "@~99"}, "g": {At: one},
	} {
		if _, err := r.Blame(background, path, opt); !errors.Is(err, cairn.ErrNotFound) {
			t.Errorf("blame of %s %+v: %v", path, opt, err)
		}
	}
	if _, err := r.Blame(background, "../out", cairn.BlameOptions{}); !errors.Is(err, cairn.ErrOutside) {
		t.Errorf("blame of a path outside: %v", err)
	}
}

func moveTo(t *testing.T, f *fixture, from, to string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(filepath.Join(f.root, to)), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(f.root, from), filepath.Join(f.root, to)); err != nil {
		t.Fatal(err)
	}
}

// TestBlameOfUncaptured: a state that left the file out says nothing about it.
func TestBlameOfUncaptured(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"f": gittest.File("a\n"), "g": gittest.File("1")})
	r := f.repo()
	trackedAs(t, r, "one")
	f.write("g", "2")
	if _, err := r.Track(background, cairn.TrackOptions{Paths: []string{"g"}, OnlyPaths: true, Message: "two"}); err != nil {
		t.Fatal(err)
	}
	f.write("f", "a\nb\n")
	trackedAs(t, r, "three")
	if got := blamed(t, r, "f", cairn.BlameOptions{}); got != "a:one b:three" {
		t.Errorf("f is %q", got)
	}
}

// Who wrote a line: an example of the library.
// TestBlameInARenamedDirectory: files keep their authors where a directory of many is renamed, and each is edited, before
// and after a checkpoint has it.
func TestBlameInARenamedDirectory(t *testing.T) {
	t.Parallel()
	tree := gittest.Tree{}
	content := func(pkg string, i int) string { return fmt.Sprintf("package %s\nline %d\nmore %d\n", pkg, i, i) }
	for i := range 60 {
		tree[fmt.Sprintf("old/f%d", i)] = gittest.File(content("old", i))
	}
	f := newFixture(t, tree)
	r := f.repo()
	trackedAs(t, r, "one")
	if err := os.RemoveAll(filepath.Join(f.root, "old")); err != nil {
		t.Fatal(err)
	}
	for i := range 60 {
		f.write(fmt.Sprintf("new/f%d", i), content("new", i))
	}
	if got, want := blamed(t, r, "new/f57", cairn.BlameOptions{}), "package new:disk line 57:one more 57:one"; got != want {
		t.Errorf("on disk: got %q, want %q", got, want)
	}
	trackedAs(t, r, "two")
	if got, want := blamed(t, r, "new/f57", cairn.BlameOptions{}), "package new:two line 57:one more 57:one"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestBlameAfterALargeContent: a file that was once too large to compare is blamed from then on. The large content
// itself is refused.
func TestBlameAfterALargeContent(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"f": gittest.File("a\n")})
	r := f.repo()
	trackedAs(t, r, "one")
	f.write("f", "a\n"+strings.Repeat("0123456789abcde\n", 1<<20+1))
	large := trackedAs(t, r, "large")
	if _, err := r.Blame(background, "f", cairn.BlameOptions{}); err == nil || !strings.Contains(err.Error(), "too many to compare") {
		t.Errorf("the large one: %v", err)
	}
	f.write("f", "a\nb\n")
	after := trackedAs(t, r, "after")
	f.write("f", "a\nb\nc\n")
	if got, want := blamed(t, r, "f", cairn.BlameOptions{Deleted: true}), "a:after b:after c:disk"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if _, err := r.Blame(background, "f", cairn.BlameOptions{At: large}); err == nil {
		t.Error("the large checkpoint is blamed")
	}
	b, err := r.Blame(background, "f", cairn.BlameOptions{At: after})
	if err != nil {
		t.Fatal(err)
	}
	if o := b.Lines[0].Origin; o.Before != "" || o.OldPath != "" {
		t.Errorf("the line may be older: %+v", o)
	}
}

func ExampleRepo_Blame() {
	ctx := context.Background()
	base, _ := os.MkdirTemp("", "cairn-example")
	defer os.RemoveAll(base)
	dir := filepath.Join(base, "project")
	os.Mkdir(dir, 0o755)
	repo, err := cairn.Open(cairn.Options{Root: dir, DataDir: filepath.Join(base, "data")})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer repo.Close()

	for _, text := range []string{"first\n", "first\nsecond\n"} {
		os.WriteFile(filepath.Join(dir, "notes"), []byte(text), 0o644)
		if _, err := repo.Track(ctx, cairn.TrackOptions{Message: fmt.Sprint(len(text), " bytes")}); err != nil {
			fmt.Println(err)
			return
		}
	}
	file, err := repo.Blame(ctx, "notes", cairn.BlameOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, line := range file.Lines {
		fmt.Println(line.Text, "came with", line.Checkpoint.Message)
	}
	// Output:
	// first came with 6 bytes
	// second came with 13 bytes
}
