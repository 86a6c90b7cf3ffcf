package repair

import (
	"context"
	"maps"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/capture"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/purge"
	"github.com/seed-fb9cbc17/cairn/internal/statetest"
)

func TestMain(m *testing.M) {
	gittest.Prepare()
	m.Run()
}

type files = map[string]statetest.File

// patient is a store of literal states that lacks some of their objects.
type patient struct {
	*Doctor
	testing.TB
}

func newPatient(t testing.TB) *patient { return patientOf(t, statetest.NewStore(t)) }

func patientOf(t testing.TB, store *history.Store) *patient {
	t.Helper()
	around, err := capture.UserRepo(store.Root)
	if err != nil {
		t.Fatal(err)
	}
	return &patient{&Doctor{Rewriter: &purge.Rewriter{Capturer: capture.New(store, around)}}, t}
}

func whole(content string) statetest.File { return statetest.File{Content: content} }

func lost(content string) statetest.File { return statetest.File{Content: content, Lost: true} }

func (p *patient) track(f files) *history.Checkpoint { return p.trackOn(p.Today(), f) }

func (p *patient) trackOn(ref string, f files) *history.Checkpoint {
	p.Helper()
	return statetest.Append(p, p.Store, ref, statetest.NewStateOf(p, p.Store, f), history.StateLabel{Message: "m"})
}

// trackLostTree adds a checkpoint whose whole state is lost.
func (p *patient) trackLostTree(ref, text string) *history.Checkpoint {
	p.Helper()
	s := statetest.NewStateOf(p, p.Store, nil)
	s.Tree = object.Sum(object.Tree, []byte(text))
	return statetest.Append(p, p.Store, ref, s, history.StateLabel{Message: "m"})
}

func (p *patient) setRef(ref string, id object.ID) {
	p.Helper()
	if err := p.DB.SetRef(ref, id); err != nil {
		p.Fatal(err)
	}
}

func (p *patient) check(opt CheckOptions) []Fault {
	p.Helper()
	found, err := p.Check(context.Background(), opt)
	if err != nil {
		p.Fatalf("check %+v: %v", opt, err)
	}
	return found
}

// refs returns the refs of the store and their values.
func (p *patient) refs() map[string]object.ID {
	p.Helper()
	list, err := p.DB.Refs("refs/")
	if err != nil {
		p.Fatal(err)
	}
	all := make(map[string]object.ID)
	for _, ref := range list {
		all[ref.Name] = ref.ID
	}
	return all
}

// wantContents compares the files of a checkpoint and the paths that it lists as lost.
func (p *patient) wantContents(spec string, want map[string]string, wantLost ...string) {
	p.Helper()
	c, err := p.Lookup(context.Background(), spec)
	if err != nil {
		p.Errorf("%s: %v", spec, err)
		return
	}
	got := statetest.Contents(p, p.Store, spec)
	if !maps.Equal(got, want) {
		p.Errorf("%s holds %q, want %q", spec, got, want)
	}
	skipped, err := c.Skipped()
	if err != nil || len(skipped) != len(wantLost) {
		p.Errorf("%s lists %v, %v, want %q", spec, skipped, err, wantLost)
		return
	}
	for i, s := range skipped {
		if string(s.Path) != wantLost[i] || s.Reason != "lost" {
			p.Errorf("%s lists %+v, want %q", spec, s, wantLost[i])
		}
	}
}

// healthy fails unless the store is sound by its own check and by git's.
func (p *patient) healthy() {
	p.Helper()
	for _, fix := range []bool{false, true} {
		if found := p.check(CheckOptions{Fix: fix}); len(found) > 0 {
			p.Errorf("after the repair: %+v", found)
		}
	}
	gittest.NewOracle(p).Fsck(p.DB.Dir())
}
