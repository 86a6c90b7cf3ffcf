package repair

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/signature"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// cutCase makes a store that lacks objects which no other place holds.
type cutCase struct {
	name   string
	make   func(p *patient) (after func())
	losses map[string]int // by kind
	gone   []string       // refs that the repair deletes
}

const session = history.RefSessions + "s"

var cutCases = []cutCase{
	{
		name: "a file of one state", losses: map[string]int{"path": 1},
		make: func(p *patient) func() {
			one, two, three := p.track(files{"a": whole("1")}), p.track(files{"a": lost("2"), "b": whole("b")}), p.track(files{"a": whole("3")})
			return func() {
				p.wantContents(one.ID, map[string]string{"a": "1"})
				p.wantContents(two.ID, map[string]string{"b": "b"}, "a")
				p.wantContents(three.ID, map[string]string{"a": "3"})
				p.wantContents("@~2", map[string]string{"a": "1"}) // the line is whole
			}
		},
	},
	{
		name: "a file of several states is one loss", losses: map[string]int{"path": 1},
		make: func(p *patient) func() {
			one, two := p.track(files{"d/a": lost("a"), "b": whole("1")}), p.track(files{"d/a": lost("a"), "b": whole("2")})
			return func() {
				p.wantContents(one.ID, map[string]string{"b": "1"}, "d/a")
				p.wantContents(two.ID, map[string]string{"b": "2"}, "d/a")
			}
		},
	},
	{
		name: "a directory", losses: map[string]int{"path": 1},
		make: func(p *patient) func() {
			s := files{"a": whole("1"), "d": {Mode: object.Dir, Content: "a tree", Lost: true}}
			c := p.track(s)
			return func() { p.wantContents(c.ID, map[string]string{"a": "1"}, "d") }
		},
	},
	{
		name: "the newest state", losses: map[string]int{"checkpoint": 1, "ref": 1},
		make: func(p *patient) func() {
			one := p.track(files{"a": whole("1")})
			p.trackLostTree(p.Today(), "2")
			return func() { p.wantContents("@", map[string]string{"a": "1"}); p.wantTip(p.Today(), one.ID) }
		},
	},
	{
		name: "a state in the middle", losses: map[string]int{"checkpoint": 1, "aside": 1},
		make: func(p *patient) func() {
			one := p.track(files{"a": whole("1")})
			p.trackLostTree(p.Today(), "2")
			three := p.track(files{"a": whole("3")})
			return func() {
				p.wantContents(one.ID, map[string]string{"a": "1"})
				p.wantContents(three.ID, map[string]string{"a": "3"})
				aside := history.RefLost + "tracks-" + strings.TrimPrefix(p.Today(), history.RefTracks) + "-" + one.ID[:12]
				p.wantTip(aside, one.ID)
			}
		},
	},
	{
		name: "the first state", losses: map[string]int{"checkpoint": 1},
		make: func(p *patient) func() {
			p.trackLostTree(p.Today(), "1")
			two := p.track(files{"a": whole("2")})
			return func() { p.wantContents(two.ID, map[string]string{"a": "2"}) }
		},
	},
	{
		name: "the only state of a session", losses: map[string]int{"checkpoint": 1, "ref": 1}, gone: []string{session},
		make: func(p *patient) func() {
			p.trackLostTree(session, "1")
			two := p.track(files{"a": whole("2")})
			return func() { p.wantContents(two.ID, map[string]string{"a": "2"}) }
		},
	},
	{
		name: "a pinned state", losses: map[string]int{"checkpoint": 1, "aside": 1, "ref": 1}, gone: []string{history.RefPins + "p"},
		make: func(p *patient) func() {
			one := p.track(files{"a": whole("1")})
			two := p.trackLostTree(p.Today(), "2")
			p.track(files{"a": whole("3")})
			p.setRef(history.RefPins+"p", history.IDOf(two))
			return func() { p.wantContents(one.ID, map[string]string{"a": "1"}) }
		},
	},
	{
		name: "a commit that a ref names", losses: map[string]int{"checkpoint": 1, "ref": 1}, gone: []string{history.RefImported + "x"},
		make: func(p *patient) func() {
			p.setRef(history.RefImported+"x", object.Sum(object.Commit, []byte("lost")))
			one := p.track(files{"a": whole("1")})
			return func() { p.wantContents(one.ID, map[string]string{"a": "1"}) }
		},
	},
	{
		name: "a state of an operation", losses: map[string]int{"checkpoint": 1, "operation": 1, "ref": 1},
		gone: []string{history.RefOperations},
		make: func(p *patient) func() {
			one := p.track(files{"a": whole("1")})
			gone := object.Sum(object.Commit, []byte("lost"))
			p.operation(one, history.IDOf(one), gone)
			return func() { p.wantContents(one.ID, map[string]string{"a": "1"}) }
		},
	},
	{
		name: "lists of signed statements", losses: map[string]int{"ref": 2}, gone: []string{history.RefSignatures + "tracks/x"},
		make: func(p *patient) func() {
			p.trackOn(session, files{"a": whole("1")})
			if err := p.DB.DeleteRef(session); err != nil { // a commit that nothing leads to is no list
				p.Fatal(err)
			}
			p.setRef(history.RefSignatures+"tracks/x", object.Sum(object.Blob, []byte("lost")))
			p.setRef(signature.Ref(signature.Rewritings), object.Sum(object.Blob, []byte("lost, too")))
			return func() {
				if list, err := signature.Read(p.Store, signature.Rewritings); err != nil || len(list) != 1 {
					p.Errorf("the statements about new ids: %v, %v", list, err)
				}
			}
		},
	},
	{
		name: "the tree of the stat cache is no loss", losses: map[string]int{}, gone: []string{history.RefDisk},
		make: func(p *patient) func() {
			one := p.track(files{"a": whole("1")})
			p.setRef(history.RefDisk, object.Sum(object.Tree, []byte("lost")))
			return func() { p.wantContents(one.ID, map[string]string{"a": "1"}) }
		},
	},
}

// operation adds an operation between two states, of which one may be lost.
func (p *patient) operation(like *history.Checkpoint, before, after object.ID) {
	p.Helper()
	record, err := json.Marshal(history.OperationRecord{Version: 1, Kind: "restore", Before: before.String(), After: after.String()})
	if err != nil {
		p.Fatal(err)
	}
	batch := p.DB.NewBatch()
	defer batch.Discard()
	id, err := history.AddCommit(batch, history.CommitRequest{
		Tree: history.TreeOf(like), Meta: history.CommitOf(like).Header(state.MetadataHeader), When: like.When, Message: "restore",
		Parents: []object.ID{before, after}, Extra: []object.Header{{Key: history.OperationHeader, Value: string(record)}},
	})
	if err := errors.Join(err, batch.Commit()); err != nil {
		p.Fatal(err)
	}
	p.setRef(history.RefOperations, id)
}

func (p *patient) wantTip(ref, id string) {
	p.Helper()
	if got := p.refs()[ref]; got.String() != id {
		p.Errorf("%s leads to %s, want %s", ref, got, id)
	}
}

// What no place holds is cut out: the rest stays, every loss is recorded, and the store is sound.
// A check without Fix says the same and changes nothing.
func TestCut(t *testing.T) {
	t.Parallel()
	for _, c := range cutCases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newPatient(t)
			after := c.make(p)
			before := p.refs()
			planned := p.check(CheckOptions{})
			if now := p.refs(); !maps.Equal(now, before) {
				t.Errorf("a check without Fix has moved refs: %v, then %v", before, now)
			}
			done := p.check(CheckOptions{Fix: true})
			p.asPlanned(planned, done)
			losses, err := p.Losses()
			if err != nil {
				t.Fatal(err)
			}
			kinds := make(map[string]int)
			for _, l := range losses {
				kinds[l.Kind]++
			}
			if !maps.Equal(kinds, c.losses) {
				t.Errorf("losses %v, want %v: %+v", kinds, c.losses, losses)
			}
			now := p.refs()
			for ref := range before {
				if _, ok := now[ref]; ok == slices.Contains(c.gone, ref) {
					t.Errorf("%s is there: %v", ref, ok)
				}
			}
			after()
			p.healthy()
		})
	}
}

// asPlanned compares what a check says it would do with what it did.
func (p *patient) asPlanned(planned, done []Fault) {
	p.Helper()
	if len(planned) == 0 || len(planned) != len(done) {
		p.Errorf("%d findings, then %d: %+v, %+v", len(planned), len(done), planned, done)
		return
	}
	for i, f := range planned {
		if f.Fixed || f.Repair == "" || !done[i].Fixed || done[i].Repair != f.Repair || done[i].Kind != f.Kind {
			p.Errorf("planned %+v, did %+v", f, done[i])
		}
	}
}

// LackedObjects lists what refs lead to and the store lacks, each object once.
func TestLackedObjects(t *testing.T) {
	t.Parallel()
	p := newPatient(t)
	p.track(files{"a": lost("1"), "b": lost("1"), "c": whole("c")})
	p.trackLostTree(session, "2")
	got, err := p.LackedObjects(t.Context())
	want := []object.ID{object.Sum(object.Blob, []byte("1")), object.Sum(object.Tree, []byte("2"))}
	slices.SortFunc(want, func(a, b object.ID) int { return slices.Compare(a[:], b[:]) })
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("lacks %v, %v, want %v", got, err, want)
	}
}

// Each kind of loss has the name of its repair.
func TestEveryLossHasARepair(t *testing.T) {
	t.Parallel()
	for _, c := range cutCases {
		for kind := range c.losses {
			if lossRepair[kind] == "" {
				t.Errorf("a loss of kind %q has no repair", kind)
			}
		}
	}
}
