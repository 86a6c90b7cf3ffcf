package collect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/odb/odbtest"
)

// gitPacker packs as package git does.
func gitPacker(db *odb.DB) PackFunc {
	return func(ctx context.Context, dir string, objects io.Reader, _ int64) error {
		cmd := exec.CommandContext(ctx, "git", "--git-dir="+db.Dir(), "pack-objects", "-q", "--delta-base-offset", filepath.Join(dir, "pack"))
		cmd.Env = append(os.Environ(), "GIT_OBJECT_DIRECTORY="+dir, "GIT_ALTERNATE_OBJECT_DIRECTORIES="+odbtest.Path(db, "objects"))
		cmd.Stdin = objects
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		return nil
	}
}

// A pack of git's holds deltas. A copy keeps them where it can, and every object keeps its
// contents.
func TestCollectDeltas(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"repack", "-adf", "--depth=50"}, {"-c", "repack.useDeltaBaseOffset=false", "repack", "-adf"}} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			t.Parallel()
			l := odbtest.NewLines(t)
			text := string(gittest.Prose(1, 20000))
			for i := range 30 {
				text = strings.Replace(text, "cairn", fmt.Sprint("c", i), 3)
				l.Track(fmt.Sprint("refs/cairn/tracks/", i), map[string]string{"f": text, "g": text[:9000]})
			}
			gittest.Bare(t, l.Dir(), "", args...)
			if names := l.PackNames(); len(names) != 1 {
				t.Fatal(names)
			}
			for i := range 30 {
				if i%3 != 1 {
					l.Forget(fmt.Sprint("refs/cairn/tracks/", i))
				}
			}
			out := collect(t, l.DB, Options{Thorough: true})
			if out.Dropped == 0 || len(out.Added) != 1 {
				t.Errorf("%+v", out)
			}
			l.Check(true)
		})
	}
}

// With git, the collection makes deltas.
func TestCollectWithGit(t *testing.T) {
	t.Parallel()
	l := odbtest.NewLines(t)
	pack := packWithGit(t, l.DB)
	text := string(gittest.Prose(1, 3000))
	for i := range 20 {
		files := map[string]string{"name\nwith": fmt.Sprint(i)}
		for j := range 60 {
			text = text[1:] + fmt.Sprint(j)
			files[fmt.Sprint(j)] = text
		}
		l.Track("refs/cairn/tracks/a", files)
	}
	l.Fill("refs/cairn/tracks/b", 10)
	l.Forget("refs/cairn/tracks/b")
	gittest.Bare(t, l.Dir(), "a loose one", "hash-object", "-w", "--stdin")
	before := odbtest.PackBytes(t, l.DB)
	out := collect(t, l.DB, Options{Pack: pack})
	if out.Packs != 1 || out.Unpacked != nil || out.Size > before/2 || out.Dropped < out.Garbage {
		t.Errorf("%d bytes before: %+v", before, out)
	}
	l.Check(true)
	odbtest.WantClean(t, l.DB, "packed")
	l.Track("refs/cairn/tracks/a", map[string]string{"f": text, "g": "new"})
	if out := collect(t, l.DB, Options{Pack: pack}); len(out.Removed) != 0 {
		t.Errorf("again, though it does not pay: %+v", out)
	}
	l.Check(true)
}

// The versions of a directory or of a file are named to git in a row: git compares neighbours
// only, and in any other order most deltas are several times as large.
func TestCollectNamesVersionsInARow(t *testing.T) {
	t.Parallel()
	l := odbtest.NewLines(t)
	const versions = 210
	number := make(map[string]map[object.ID]int) // by what it is a version of
	note := func(what string, id object.ID, i int) {
		if number[what] == nil {
			number[what] = make(map[object.ID]int)
		}
		number[what][id] = i
	}
	for i := range versions {
		files := make(map[string]string)
		for _, name := range []string{"a", "b", "c", "d"} {
			files[name] = fmt.Sprint(name, i)
			note(name, object.Sum(object.Blob, []byte(files[name])), i)
		}
		commit := l.Track("refs/cairn/tracks/a", files)
		c, err := object.ParseCommit(l.Objs[commit])
		must(t, err)
		note("commit", commit, i)
		note("root", c.Tree, i)
	}
	order := make(map[string][]int)
	collect(t, l.DB, Options{Pack: func(_ context.Context, _ string, r io.Reader, size int64) error {
		if now := odbtest.PackBytes(t, l.DB); size < now/4 || size > now {
			t.Errorf("asked to pack %d bytes, where there are %d", size, now)
		}
		text, err := io.ReadAll(r)
		must(t, err)
		for line := range strings.SplitSeq(strings.TrimSpace(string(text)), "\n") {
			id, err := object.ParseID(line[:2*len(object.ID{})])
			must(t, err)
			for what, versions := range number {
				if i, ok := versions[id]; ok {
					order[what] = append(order[what], i)
				}
			}
		}
		return errors.New("seen")
	}})
	for what := range number {
		if got := order[what]; len(got) != versions || !slices.IsSorted(got) && !slices.IsSortedFunc(got, func(a, b int) int { return b - a }) {
			t.Errorf("versions of %s: %v", what, got)
		}
	}
}

// A packer that fails, or that makes another pack than it was asked for, changes nothing.
func TestCollectDistrustsThePacker(t *testing.T) {
	t.Parallel()
	packers := map[string]func(t *testing.T, l *odbtest.Lines) PackFunc{
		"fails": func(t *testing.T, l *odbtest.Lines) PackFunc {
			return func(context.Context, string, io.Reader, int64) error { return errors.New("boom") }
		},
		"dies half-way": func(t *testing.T, l *odbtest.Lines) PackFunc {
			return func(_ context.Context, dir string, _ io.Reader, _ int64) error {
				must(t, os.Mkdir(filepath.Join(dir, "pack"), 0o700))
				must(t, os.WriteFile(filepath.Join(dir, "pack", "tmp_pack_1"), []byte("half"), 0o600))
				return errors.New("killed")
			}
		},
		"makes nothing": func(t *testing.T, l *odbtest.Lines) PackFunc {
			return func(_ context.Context, _ string, r io.Reader, _ int64) error {
				_, err := io.Copy(io.Discard, r)
				return err
			}
		},
		"leaves one out": func(t *testing.T, l *odbtest.Lines) PackFunc {
			good := packWithGit(t, l.DB)
			return func(ctx context.Context, dir string, r io.Reader, size int64) error {
				data, err := io.ReadAll(r)
				must(t, err)
				_, rest, _ := strings.Cut(string(data), "\n")
				return good(ctx, dir, strings.NewReader(rest), size)
			}
		},
		"damages one": func(t *testing.T, l *odbtest.Lines) PackFunc {
			good := packWithGit(t, l.DB)
			return func(ctx context.Context, dir string, r io.Reader, size int64) error {
				must(t, good(ctx, dir, r, size))
				names, err := filepath.Glob(filepath.Join(dir, "*.pack"))
				must(t, err)
				must(t, os.Chmod(names[0], 0o600))
				data, err := os.ReadFile(names[0])
				must(t, err)
				data[len(data)/2] ^= 4
				return os.WriteFile(names[0], data, 0o600)
			}
		},
	}
	for name, packer := range packers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := odbtest.NewLines(t)
			for i := range 5 {
				files := make(map[string]string)
				for j := range 210 {
					files[fmt.Sprint(j)] = fmt.Sprint(i, j)
				}
				l.Track("refs/cairn/tracks/a", files)
			}
			l.Fill("refs/cairn/tracks/b", 3)
			l.Forget("refs/cairn/tracks/b")
			out := collect(t, l.DB, Options{Pack: packer(t, l), Thorough: true})
			if out.Unpacked == nil || out.Incomplete {
				t.Errorf("%+v", out)
			}
			l.Check(true)
			odbtest.WantClean(t, l.DB, name)
		})
	}
}

func TestCollectLeavesKeptPacksAlone(t *testing.T) {
	t.Parallel()
	l := odbtest.NewLines(t)
	l.Fill("refs/cairn/tracks/b", 1)
	kept := l.PackNames()[0]
	must(t, os.WriteFile(l.Path("objects/pack/"+kept+".keep"), nil, 0o600))
	l.Fill("refs/cairn/tracks/a", 3)
	l.Forget("refs/cairn/tracks/b")
	collect(t, l.DB, Options{Thorough: true})
	if !slices.Contains(l.PackNames(), kept) {
		t.Error("a pack with .keep is gone")
	}
	l.Check(false)
	must(t, os.Remove(l.Path("objects/pack/"+kept+".keep")))
	collect(t, l.DB, Options{Thorough: true})
	l.Check(true)
}

func TestCollectWithAMultiPackIndex(t *testing.T) {
	t.Parallel()
	l := odbtest.NewLines(t)
	l.Fill("refs/cairn/tracks/a", 3)
	l.Fill("refs/cairn/tracks/b", 3)
	gittest.Bare(t, l.Dir(), "", "multi-pack-index", "write")
	l.Forget("refs/cairn/tracks/b")
	if out := collect(t, l.DB, Options{}); out.Dropped == 0 {
		t.Errorf("%+v", out)
	}
	l.Check(true)
}
