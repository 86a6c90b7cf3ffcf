package cairn_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	cairn "github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/access"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	pasts "github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/operation"
	"github.com/seed-fb9cbc17/cairn/internal/statetest"
	"github.com/seed-fb9cbc17/cairn/internal/transfer"
)

// goneRules is a way to lose ignore rules that no capture holds. prepare leaves a file
// "box/notes" that the rules cover, lose takes the rules away.
type goneRules struct {
	name    string
	prepare func(f *fixture)
	lose    func(f *fixture)
}

func exclude(f *fixture, text string) { f.write(".git/info/exclude", text) }

var goneRulesCases = []goneRules{
	{"itself", func(f *fixture) {
		f.write(".gitignore", ".gitignore\nnotes\n")
	}, func(f *fixture) { f.write(".gitignore", "") }},
	{"itself, removed", func(f *fixture) {
		f.write("box/.gitignore", "*\n")
	}, func(f *fixture) { f.remove("box/.gitignore") }},
	{"itself, beside captured files", func(f *fixture) {
		f.write("box/kept", "k")
		f.write("box/.gitignore", "# a comment\n.gitignore\n/notes\n")
	}, func(f *fixture) { f.remove("box/.gitignore") }},
	{"named by info/exclude", func(f *fixture) {
		exclude(f, ".gitignore\n")
		f.write(".gitignore", "notes\n")
	}, func(f *fixture) { f.write(".gitignore", "") }},
	{"named by a .gitignore above", func(f *fixture) {
		f.write(".gitignore", "/box/.gitignore\n")
		f.write("box/.gitignore", "notes\n")
	}, func(f *fixture) { f.remove("box/.gitignore") }},
	{"in info/exclude itself", func(f *fixture) {
		exclude(f, "notes\n")
	}, func(f *fixture) { exclude(f, "") }},
	{"in core.excludesFile", func(f *fixture) {
		f.write(".git/config", "[core]\n\texcludesFile = "+f.path(".git/mine")+"\n")
		f.write(".git/mine", "notes\n")
	}, func(f *fixture) { f.write(".git/config", "") }},
	{"bytes that are no UTF-8", func(f *fixture) {
		exclude(f, ".gitignore\n")
		f.write(".gitignore", "n[\xe9o]tes\n")
	}, func(f *fixture) { f.remove(".gitignore") }},
	{"too large", func(f *fixture) {
		f.opt.MaxFileSize = 64
		f.write(".gitignore", "notes\n"+strings.Repeat("x/y/z/w\n", 20))
	}, func(f *fixture) { f.write(".gitignore", "") }},
	{"too large to be kept", func(f *fixture) {
		exclude(f, ".gitignore\n")
		f.write(".gitignore", "notes\n"+strings.Repeat("x/y/z/w\n", 10_000))
	}, func(f *fixture) { f.write(".gitignore", "") }},
	{"in an info/exclude too large to be read", func(f *fixture) {
		exclude(f, "notes\n"+strings.Repeat("x/y/z/w\n", 1<<18))
		f.write(".gitignore", "box/notes\n")
	}, func(f *fixture) { f.remove(".gitignore"); exclude(f, "") }},
	{"never stored", func(f *fixture) {
		f.opt.Never = []string{".gitignore"}
		f.write(".gitignore", "notes\n")
	}, func(f *fixture) { f.write(".gitignore", "") }},
}

// newRulesFixture has a root with a repository around it and one captured file.
func newRulesFixture(t *testing.T) *fixture {
	f := newFixture(t, gittest.Tree{"a": gittest.File("1"), "box/notes": gittest.File("precious")})
	gittest.NewOracle(t).Init(f.root)
	return f
}

func TestV01_RulesThatNoCaptureHolds(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	back := map[string]func(f *fixture, from, to string) (*cairn.Result, error){
		"restore": func(f *fixture, from, _ string) (*cairn.Result, error) {
			return f.repo().Restore(f.Context(), from, cairn.RestoreOptions{})
		},
		"revert": func(f *fixture, from, _ string) (*cairn.Result, error) {
			return f.repo().RevertPatches(f.Context(), []cairn.Patch{{Hash: from, Files: []string{"box/notes", "a"}}}, cairn.RevertPatchesOptions{})
		},
		"revert of a range": func(f *fixture, from, to string) (*cairn.Result, error) {
			return f.repo().Revert(f.Context(), cairn.Range{From: from, To: to}, cairn.RevertOptions{})
		},
		"overwriting revert of a range": func(f *fixture, from, to string) (*cairn.Result, error) {
			return f.repo().Revert(f.Context(), cairn.Range{From: from, To: to}, cairn.RevertOptions{OnConflict: cairn.Overwrite})
		},
		"steps": func(f *fixture, from, to string) (res *cairn.Result, err error) {
			err = access.Lines(f.repo()).Update(f.Context(), func(u *operation.LineUpdate) error {
				steps := []operation.UndoneStep{{Step: operation.Step{From: from, To: to}}}
				res, err = takenBack(u.TakeBack(f.Context(), "line", operation.TakeBack{Kind: "revert", Steps: steps}))
				return err
			})
			return res, err
		},
	}
	for _, c := range goneRulesCases {
		for name, goBack := range back {
			t.Run(c.name+"/"+name, func(t *testing.T) {
				t.Parallel()
				f := newRulesFixture(t)
				c.prepare(f)
				from := f.track().Checkpoint
				if slices.Contains(f.files(from), "box/notes") {
					t.Fatal("the file that the rules cover is captured")
				}
				c.lose(f)
				f.write("a", "2")
				to := f.track().Checkpoint
				res, err := goBack(f, from, to)
				if err != nil {
					t.Fatal(err)
				}
				if f.read("box/notes") != "precious" || f.read("a") != "1" {
					t.Errorf("the tree is not as it should be: %+v", res)
				}
				kept := slices.ContainsFunc(res.Kept, func(k cairn.PathReason) bool { return k.Path == "box/notes" })
				if !kept {
					t.Errorf("the file is not listed as kept: %+v", res)
				}
			})
		}
	}
}

// The record must not make going back keep what is certainly new.
func TestV01_NewFilesGoWhereTheRulesAreKnown(t *testing.T) {
	t.Parallel()
	for _, c := range goneRulesCases {
		if c.name == "too large to be kept" || c.name == "never stored" || strings.HasPrefix(c.name, "in an info/exclude") {
			continue // no text, so no rule is sure
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := newRulesFixture(t)
			c.prepare(f)
			from := f.track().Checkpoint
			c.lose(f)
			f.write("new", "n")
			f.track()
			f.restore(from)
			if f.exists("new") || f.read("box/notes") != "precious" {
				t.Error("a new file stays, or one that may have existed goes")
			}
		})
	}
}

func TestV01_UnreadableRules(t *testing.T) {
	t.Parallel()
	if os.Getuid() == 0 || runtime.GOOS == "windows" {
		t.Skip("permissions do not keep this user from reading")
	}
	for _, path := range []string{".gitignore", ".git/info/exclude"} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			f := newRulesFixture(t)
			f.write(path, "notes\n")
			if err := os.Chmod(f.path(path), 0); err != nil {
				t.Fatal(err)
			}
			from := f.track().Checkpoint
			if err := os.Remove(f.path(path)); err != nil {
				t.Fatal(err)
			}
			f.write("box/new", "n")
			f.track()
			res, err := f.repo().Restore(f.Context(), from, cairn.RestoreOptions{})
			if err != nil || !f.exists("box/new") || len(res.Kept) == 0 {
				t.Errorf("what lies below unknown rules is deleted: %+v, %v", res, err)
			}
		})
	}
}

// A capture of a part, and one that knows what has changed, look at few directories.
func TestV01_RecordSurvivesCapturesOfAPart(t *testing.T) {
	t.Parallel()
	f := newRulesFixture(t)
	f.write("box/.gitignore", "*\n")
	f.track()
	f.write("a", "2")
	if _, err := f.repo().Track(f.Context(), cairn.TrackOptions{Paths: []string{"a"}, OnlyPaths: true}); err != nil {
		t.Fatal(err)
	}
	f.write("a", "3")
	from := f.track()
	f.write("a", "4")
	f.restore(from.Checkpoint) // captures the paths of the operation alone
	then := f.track()
	f.remove("box/.gitignore")
	f.track()
	f.restore(then.Checkpoint)
	if f.read("box/notes") != "precious" {
		t.Error("the rules were lost on the way")
	}
}

func TestV01_RecordIsPartOfNoTree(t *testing.T) {
	t.Parallel()
	f := newRulesFixture(t)
	without := f.track()
	f.write("box/.gitignore", "*\n")
	f.remove("box/notes")
	f.write("box/other", "o")
	with := f.track()
	if slices.Contains(f.files(with.Checkpoint), "box/.gitignore") || len(with.Skipped) > 0 || with.Checkpoint == without.Checkpoint {
		t.Errorf("captured %q, skipped %+v", f.files(with.Checkpoint), with.Skipped)
	}
	if again := f.track(); again.Checkpoint != with.Checkpoint {
		t.Error("an unchanged tree gets a new checkpoint")
	}
	f.write("box/.gitignore", "*\n!more\n")
	if again := f.track(); again.Checkpoint == with.Checkpoint || again.Hash != with.Hash {
		t.Error("other rules make no new checkpoint, or another tree")
	}
}

func TestV01_PurgedRulesGo(t *testing.T) {
	t.Parallel()
	f := newRulesFixture(t)
	f.write("box/.gitignore", "*\n/sesame-secret\n")
	from := f.track().Checkpoint
	f.write("a", "2")
	f.restore(from)
	f.purge("box/.gitignore")
	f.wantNoTrace("sesame-secret")
	f.write("box/.gitignore", "*\n/sesame-secret\n")
	f.track()
	f.wantNoTrace("sesame-secret")
	f.remove("box/.gitignore")
	f.track()
	if f.restore(from); f.read("box/notes") != "precious" {
		t.Error("what the purged rules covered is deleted")
	}
}

func TestV01_RecordTravels(t *testing.T) {
	t.Parallel()
	f := newRulesFixture(t)
	f.write("box/.gitignore", "*\n")
	from := f.track()
	bundle := f.export(from.Checkpoint)
	f.opt.DataDir = filepath.Join(t.TempDir(), "other")
	id := f.imported(bundle).ID
	if _, err := f.repo().Clean(f.Context(), cairn.CleanOptions{Thorough: true}); err != nil {
		t.Fatal(err)
	}
	f.remove("box/.gitignore")
	f.track()
	f.restore(id)
	if f.read("box/notes") != "precious" {
		t.Error("the rules were lost on the way")
	}
}

// A checkpoint of an earlier release has no record. Traces then count as rules that are
// not known.
func TestV01_CheckpointWithoutRecord(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, meta, new string
		prepare         func(f *fixture)
		kept            bool
	}{
		{"nothing captured in the directory", `,"bare":["box"]`, "box/new", nil, true},
		{"the rule file ignored", `,"ignore":{"sources":[".gitignore\n"]}`, "new", nil, true},
		{"the rule file skipped", `,"skipped":[{"path":"box/.gitignore","reason":"too large","size":1}]`, "box/new", nil, true},
		{"the rule file captured today", ``, "new", func(f *fixture) { f.write(".gitignore", "") }, true},
		{"the rule file ignored today", ``, "box/new", func(f *fixture) { f.write("box/.gitignore", ".gitignore\n") }, true},
		{"no trace", ``, "box/new", nil, false},
		{"a text with a NUL", `,"ignore":{"sources":["a\u0000zz\n"]}`, "new", nil, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, gittest.Tree{"a": gittest.File("1"), c.new: gittest.File("n")})
			if c.prepare != nil {
				c.prepare(f)
			}
			f.track()
			old := f.imported(oldBundle(t, `{"v":1,"perm":{"file":"644","exec":"755","dir":"755"}`+c.meta+"}"))
			res, err := f.repo().Restore(f.Context(), old.ID, cairn.RestoreOptions{})
			if err != nil || f.exists(c.new) != c.kept {
				t.Errorf("%s: %+v, %v", c.new, res, err)
			}
		})
	}
}

// oldBundle exports a checkpoint of the file "a" with the metadata of an earlier release.
func oldBundle(t *testing.T, meta string) []byte {
	t.Helper()
	store := statetest.NewStore(t)
	s := statetest.NewState(t, store, map[string]string{"a": "1"})
	batch := store.DB.NewBatch()
	defer batch.Discard()
	id, err := pasts.AddCommit(batch, pasts.CommitRequest{
		Tree: s.Tree, Meta: meta, Message: "checkpoint", When: store.Now(), Author: object.Signature{Name: "user", Email: "cairn@localhost"},
	})
	var bundle bytes.Buffer
	if err = errors.Join(err, batch.Commit(), store.DB.SetRef(store.Today(), id)); err == nil {
		err = (&transfer.Transport{Store: store}).Export(t.Context(), &bundle, id.String())
	}
	if err != nil {
		t.Fatal(err)
	}
	return bundle.Bytes()
}
