package repair

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"filippo.io/age"

	"github.com/seed-fb9cbc17/cairn/internal/git"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/sealed"
	"github.com/seed-fb9cbc17/cairn/internal/settings"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/statetest"
	"github.com/seed-fb9cbc17/cairn/internal/transfer"
)

// A leftover of a dead process stays a finding after the second looks.
func TestCheckTellsOfTheDead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // the second looks have pauses
		p := newPatient(t)
		p.track(files{"a": whole("1")})
		left := filepath.Join(p.DB.Dir(), "cairn", ".tmp_cairn_0123456789abcdef")
		if err := os.WriteFile(left, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		tell := func(when string, want int) {
			t.Helper()
			found := p.check(CheckOptions{})
			if len(found) != want || want > 0 && (found[0].Kind != "temporary" || string(found[0].Path) != left) {
				t.Errorf("%s: %+v", when, found)
			}
		}
		tell("left by a dead one", 1)
		if err := os.Remove(left); err != nil {
			t.Fatal(err)
		}
		tell("removed", 0)
	})
}

// Damaged files of a store are found by kind, repaired, and found no more.
func TestFindings(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		path, content string
		kind          string
	}{
		"stat cache":    {"cairn/index", "torn", "stat cache"},
		"ends of lines": {"shallow", "12345\n", "ends of lines"},
		"ref":           {"refs/cairn/tracks/2026-01-01", "torn", "ref"},
		"temporary":     {"cairn/.tmp_cairn_0123456789abcdef", "", "temporary"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPatient(t)
			c0 := p.track(files{"a": whole("1")})
			if err := os.WriteFile(filepath.Join(p.DB.Dir(), filepath.FromSlash(c.path)), []byte(c.content), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, fix := range []bool{false, true} {
				found := p.check(CheckOptions{Fix: fix})
				if !slices.ContainsFunc(found, func(f Fault) bool { return f.Kind == c.kind && f.Repair != "" && f.Fixed == fix && f.Text != "" }) {
					t.Errorf("fix %v: %+v", fix, found)
				}
			}
			p.healthy()
			p.wantContents(c0.ID, map[string]string{"a": "1"})
		})
	}
}

// A purge that was killed before it had dropped everything is told of until the same purge has ended.
func TestUnfinishedPurge(t *testing.T) {
	t.Parallel()
	p := newPatient(t)
	p.track(files{"a": whole("1")})
	for text, want := range map[string]int{"unfinished\n": 1, "": 0} {
		if err := p.DB.WritePrivate(odb.PrivatePurging, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if found := p.check(CheckOptions{}); len(found) != want || want > 0 && (found[0].Kind != "purge" || found[0].Fixed) {
			t.Errorf("%q: %+v", text, found)
		}
	}
}

// A note repairs only with Fix, says why a repair failed, and keeps to the limit of findings.
func TestNote(t *testing.T) {
	t.Parallel()
	mended := 0
	mend := func() error { mended++; return nil }
	look, fix := &checker{}, &checker{opt: CheckOptions{Fix: true}}
	look.note(Fault{Kind: "k"}, mend)
	fix.note(Fault{Kind: "k"}, mend)
	fix.note(Fault{Kind: "k", Text: "bad"}, func() error { return errors.New("no room") })
	fix.note(Fault{Kind: "k"}, nil)
	if mended != 1 || look.found[0].Fixed || !fix.found[0].Fixed || fix.found[1].Fixed || fix.found[2].Fixed {
		t.Errorf("%d repairs: %+v, %+v", mended, look.found, fix.found)
	}
	if want := "bad; not repaired: no room"; fix.found[1].Text != want {
		t.Errorf("%q, want %q", fix.found[1].Text, want)
	}
	for range 2 * maxFindings {
		look.note(Fault{}, nil)
	}
	if len(look.found) != maxFindings {
		t.Errorf("%d findings", len(look.found))
	}
}

// An object that another place holds comes back from there, and nothing is cut out. The
// cheapest place that has it is named.
func TestSeek(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		place func(p *patient) (from string)
		said  string
	}{
		"a file on the disk, under another name": {func(p *patient) string { p.onDisk("elsewhere", "secret"); return "" }, "the disk"},
		"a symlink on the disk": {func(p *patient) string {
			if err := os.Symlink("secret", filepath.Join(p.Root, "link")); err != nil {
				p.Skip(err)
			}
			return ""
		}, "the disk"},
		"a store that is named": {func(p *patient) string {
			other := statetest.NewStore(p)
			statetest.NewState(p, other, map[string]string{"x": "secret"})
			return other.DB.Dir()
		}, "store"},
		"another store of the data directory": {func(p *patient) string {
			db, err := odb.Create(filepath.Join(filepath.Dir(p.DB.Dir()), strings.Repeat("e", 16)), filepath.Join(p.TempDir(), "r"), odb.Options{NoSync: true})
			if err != nil {
				p.Fatal(err)
			}
			defer db.Close()
			batch := db.NewBatch()
			defer batch.Discard()
			_, err = batch.Add(object.Blob, []byte("secret"))
			if err := errors.Join(err, batch.Commit()); err != nil {
				p.Fatal(err)
			}
			return ""
		}, "the store "},
		"a sealed remote": {func(p *patient) string { return p.sealedRemote("") }, "fleet.git"},
		"a sealed remote with a damaged note": {func(p *patient) string {
			remote := p.sealedRemote("")
			o := gittest.NewOracle(p)
			for _, id := range []string{strings.Repeat("0", 32), strings.Repeat("f", 32)} {
				o.In(remote, "update-ref", "refs/cairn/sealed/"+id, strings.TrimSpace(o.Feed(remote, "no note", "hash-object", "-w", "--stdin")))
			}
			return remote
		}, "fleet.git"},
		"a sealed remote with packed refs": {func(p *patient) string { return p.sealedRemote("pack-refs") }, "fleet.git"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := patientOf(t, statetest.NewStoreOf(t, t.TempDir()))
			made := p.track(files{"a": lost("secret"), "b": whole("b")})
			opt := CheckOptions{From: c.place(p)}
			for _, opt.Fix = range []bool{false, true} {
				found := p.check(opt)
				if len(found) != 1 || found[0].Fixed != opt.Fix || !strings.HasPrefix(found[0].Repair, "bring it back from ") || !strings.Contains(found[0].Repair, c.said) {
					t.Errorf("fix %v: %+v", opt.Fix, found)
				}
			}
			p.wantContents(made.ID, map[string]string{"a": "secret", "b": "b"})
			if losses, err := p.Losses(); err != nil || len(losses) > 0 {
				t.Errorf("losses %+v, %v", losses, err)
			}
			p.healthy()
		})
	}
}

// sealedRemote makes a remote to which another store has pushed the lost file sealed, and gives the patient the key.
// command is one of git to run there; "" = none.
func (p *patient) sealedRemote(command string) string {
	p.Helper()
	o := gittest.NewOracle(p)
	remote := filepath.Join(p.TempDir(), "fleet.git")
	o.In(filepath.Dir(remote), "init", "-q", "--bare", "--template=", remote)
	k, err := age.GenerateX25519Identity()
	if err != nil {
		p.Fatal(err)
	}
	file := filepath.Join(p.TempDir(), "key")
	gittest.Create(p, filepath.Dir(file), gittest.Tree{"key": gittest.File(k.String() + "\n")})
	other := statetest.NewStoreOf(p, p.Root)
	other.Opt.Sealer, other.Opt.Encrypt = sealed.Age{}, []string{k.Recipient().String()}
	statetest.Track(p, other, statetest.NewState(p, other, map[string]string{"x": "secret"}))
	lacking := func(context.Context) ([]object.ID, error) { return nil, nil }
	t := &transfer.Transport{Store: other, Lacking: lacking, Repository: func() *git.Repo { return nil }}
	if _, err := t.Push(p.Context(), remote); err != nil {
		p.Fatal(err)
	}
	if command != "" {
		o.In(remote, command, "--all")
	}
	p.Opt.Sealer, p.Opt.Identity = sealed.Age{}, file
	return remote
}

func (p *patient) onDisk(path, content string) {
	p.Helper()
	if err := os.WriteFile(filepath.Join(p.Root, path), []byte(content), 0o600); err != nil {
		p.Fatal(err)
	}
}

// A place whose bytes are not those of the object gives nothing back.
func TestSeekDistrustsPlaces(t *testing.T) {
	t.Parallel()
	p := newPatient(t)
	p.track(files{"a": lost("secret")})
	m := newMender(p.Doctor, nil)
	if err := m.walk(t.Context()); err != nil {
		t.Fatal(err)
	}
	liar := place{name: "a liar", open: func(object.ID) (object.Kind, int64, io.ReadCloser, error) {
		return object.Blob, 5, io.NopCloser(strings.NewReader("other")), nil
	}}
	seek := func(l *history.Locked) error {
		m.lock = l
		if n, err := m.recoverFrom(t.Context(), liar); err != nil || n != 0 || len(m.back) > 0 {
			t.Errorf("dry %v: recovered %d objects, %v, %v", m.dry(), n, err, m.back)
		}
		return nil
	}
	seek(nil)
	if err := p.Locked(t.Context(), seek); err != nil {
		t.Fatal(err)
	}
}

// Strays are taken newest first. Of equal times, a commit that another one continues is older.
func TestSortStrays(t *testing.T) {
	t.Parallel()
	id := func(name string) object.ID { return object.Sum(object.Commit, []byte(name)) }
	at := func(name string, second int64, parents ...string) *stray {
		d := &object.CommitData{Committer: object.Signature{When: time.Unix(second, 0)}}
		for _, p := range parents {
			d.Parents = append(d.Parents, id(p))
		}
		return &stray{id: id(name), data: d, line: name}
	}
	all := map[rune]*stray{'a': at("a", 1), 'b': at("b", 2), 'c': at("c", 2, "b"), 'd': at("d", 3)}
	for _, order := range []string{"abcd", "dcba", "bcad", "cbda"} {
		var strays []*stray
		for _, name := range order {
			strays = append(strays, all[name])
		}
		sortStrays(strays)
		var got string
		for _, s := range strays {
			got += s.line
		}
		if got != "dcba" {
			t.Errorf("%s is sorted as %s", order, got)
		}
	}
}

// TestV11_FromMustBeThere: the place that a user names is an error where there is none; nothing is cut out then.
func TestV11_FromMustBeThere(t *testing.T) {
	t.Parallel()
	p := newPatient(t)
	p.track(files{"a": lost("secret")})
	before := fmt.Sprint(p.refs())
	if found, err := p.Check(t.Context(), CheckOptions{Fix: true, From: filepath.Join(t.TempDir(), "nowhere")}); err == nil {
		t.Errorf("found %+v", found)
	}
	remote := p.sealedRemote("")
	p.Opt.Identity += "-elsewhere"
	if found, err := p.Check(t.Context(), CheckOptions{Fix: true, From: remote}); !errors.Is(err, settings.ErrIdentity) {
		t.Errorf("without the file of the key: found %+v, %v", found, err)
	}
	if losses, err := p.Losses(); err != nil || len(losses) > 0 || fmt.Sprint(p.refs()) != before {
		t.Errorf("losses %v, %v, refs %v", losses, err, p.refs())
	}
}

// A torn ref of a line leads to the newest stray of that line again.
func TestTornRefFindsItsTip(t *testing.T) {
	t.Parallel()
	p := newPatient(t)
	p.track(files{"a": whole("1")})
	tip := p.track(files{"a": whole("2")})
	if err := os.WriteFile(filepath.Join(p.DB.Dir(), filepath.FromSlash(p.Today())), []byte("torn"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.check(CheckOptions{Fix: true})
	p.wantTip(p.Today(), tip.ID)
	p.healthy()
	if _, err := p.Lookup(t.Context(), "@~1"); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(p.DB.Dir(), filepath.FromSlash(history.RefLost))); err == nil {
		t.Error("a part of the line was set aside")
	}
}

// TestDamagedProject: a store whose note of the project is damaged pushes again after a repair. A note of a later release
// is none of the faults.
func TestDamagedProject(t *testing.T) {
	t.Parallel()
	for text, damaged := range map[string]bool{"": true, "x": true, `{"v":1,"root":"xy"}`: true, `{"v":1,"id":"shop"}`: false, `{"v":2}`: false} {
		p := newPatient(t)
		p.track(files{"a": whole("1")})
		if err := p.DB.WritePrivate(odb.PrivateProject, []byte(text)); err != nil {
			t.Fatal(err)
		}
		for _, fix := range []bool{false, true} {
			found := p.check(CheckOptions{Fix: fix})
			if damaged != (len(found) == 1 && found[0].Kind == "project" && found[0].Fixed == fix) || !damaged && len(found) > 0 {
				t.Errorf("%q: fix %t: %+v", text, fix, found)
			}
		}
		if _, err := p.DB.ReadPrivate(odb.PrivateProject); damaged != errors.Is(err, odb.ErrNotFound) {
			t.Errorf("%q: after a repair: %v", text, err)
		}
	}
}

// TestCheckNamesLaterReleases: a checkpoint whose metadata, or whose record on a line, is of a later release is no
// damage, and only a newer cairn reads it.
func TestCheckNamesLaterReleases(t *testing.T) {
	t.Parallel()
	p := newPatient(t)
	c := p.track(files{"a": whole("a")})
	p.healthy()
	var want []string
	for name, q := range map[string]history.CommitRequest{
		"meta": {Meta: `{"v":99}`},
		"line": {
			Meta:  history.CommitOf(c).Header(state.MetadataHeader),
			Extra: []object.Header{{Key: history.LineHeader, Value: `{"v":99}`}},
		},
	} {
		batch := p.DB.NewBatch()
		q.Tree, q.When = history.TreeOf(c), p.Now()
		id, err := history.AddCommit(batch, q)
		if err := errors.Join(err, batch.Commit()); err != nil {
			t.Fatal(err)
		}
		batch.Discard()
		p.setRef(history.RefSessions+name, id)
		want = append(want, id.String())
	}
	for _, fix := range []bool{false, true} {
		var got []string
		for _, f := range p.check(CheckOptions{Fix: fix}) {
			if f.Kind != "later release" || f.Fixed || !strings.Contains(f.Repair, "newer cairn") {
				t.Errorf("found %+v", f)
			}
			got = append(got, f.ID)
		}
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("found %q, want %q", got, want)
		}
	}
}
