package history

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// Machine says whose the fetched lines of a store are, in the words of that store.
type Machine struct {
	Store   string     `json:"storeID,omitempty"` // id of the store
	Machine string     `json:"machine,omitempty"`
	User    string     `json:"user,omitempty"`
	Root    state.Path `json:"root,omitempty"` // where the project lies there
}

// String names the machine: user@machine, or the store where neither is known.
func (m *Machine) String() string {
	switch {
	case m.User != "" && m.Machine != "":
		return wording.Printable(m.User) + "@" + wording.Printable(m.Machine)
	case m.User+m.Machine != "":
		return wording.Printable(m.User + m.Machine)
	}
	return "store " + wording.Printable(m.Store)
}

// Machines lists whose the fetched lines are, by the ids of the stores.
func (r *Store) Machines() (map[string]Machine, error) {
	known := make(map[string]Machine)
	data, err := r.DB.ReadPrivate(odb.PrivateMachines)
	if errors.Is(err, odb.ErrNotFound) {
		return known, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &known)
	}
	return known, err
}

// whose returns a function that says whose the fetched lines of a store are. Where that is not known, the id of the store
// does.
func (r *Store) whose() func(store string) Machine {
	machines, err := r.Machines()
	if err != nil {
		r.Log.Warn("the machines of fetched lines are not known", "error", err)
	}
	return func(store string) Machine {
		m := machines[store]
		m.Store = store
		return m
	}
}

// FetchedLine is the newest checkpoint of a line that another store has pushed.
type FetchedLine struct {
	*LineEvent
	From Machine
	Last *LineEvent // see LastWork; only from FetchedTip

	again bool // it has the second name of a line that was begun again, and is not what a fetch has set aside
}

// FetchedTips returns the newest checkpoint of every line with records that other stores have pushed.
// Lines that cannot be read are left out and logged. One that the caller knows by its id is not read.
func (r *Store) FetchedTips(ctx context.Context, known func(id string) *LineEvent) ([]FetchedLine, error) {
	return r.fetchedTips(ctx, "", known)
}

// FetchedTip returns the newest checkpoint of a line that another store has pushed. Of the lines of
// several stores, and of one that was begun again, it is that on which something happened last, see
// LastWork. With a store, its lines alone count. The error wraps ErrNotFound where there is none.
func (r *Store) FetchedTip(ctx context.Context, id, store string, idle func(*LineEvent) bool) (FetchedLine, error) {
	tips, err := r.fetchedTips(ctx, strings.TrimPrefix(LineRef(id), RefRoot), func(string) *LineEvent { return nil })
	if err != nil {
		return FetchedLine{}, err
	}
	tips = slices.DeleteFunc(tips, func(tip FetchedLine) bool { return store != "" && tip.From.Store != store })
	if len(tips) == 0 {
		return FetchedLine{}, state.NotFound("fetched line %q", id)
	}
	for i := range tips {
		tips[i].Last = r.LastWork(ctx, tips[i].LineEvent, idle)
	}
	newest := tips[0]
	for _, tip := range tips[1:] {
		rewritten := tip.again && tip.at == newest.at && tip.From.Store == newest.From.Store // by a purge, which changes no time
		if rewritten || cmp.Or(cmp.Compare(tip.Last.at, newest.Last.at), cmp.Compare(tip.at, newest.at)) > 0 {
			newest = tip
		}
	}
	return newest, ctx.Err()
}

// LastWork returns the newest checkpoint of a line that is not idle, the oldest one that can be read where all are.
func (r *Store) LastWork(ctx context.Context, tip *LineEvent, idle func(*LineEvent) bool) *LineEvent {
	last := tip
	for e, err := range r.Line(ctx, tip.ID) {
		if err != nil {
			break
		}
		if last = e; !idle(e) {
			break
		}
	}
	return last
}

// fetchedTips reads the lines of a name with all their beginnings, "" for all.
func (r *Store) fetchedTips(ctx context.Context, name string, known func(id string) *LineEvent) ([]FetchedLine, error) {
	isWanted := func(ref string) bool {
		_, line := fetchedName(ref)
		return strings.HasPrefix(line, strings.TrimPrefix(RefSessions, RefRoot)) && (name == "" || line == name || FirstName(line) == name)
	}
	refs, err := r.DB.RefsOf(RefRemotes, isWanted)
	if err != nil {
		return nil, err
	}
	whose := r.whose()
	var tips []FetchedLine
	for _, ref := range refs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !isWanted(ref.Name) { // an invalid line of packed-refs
			continue
		}
		store, line := fetchedName(ref.Name)
		e := known(ref.ID.String())
		if err = ref.Err; err == nil && e == nil {
			e, err = r.ReadLineEvent(ref.ID)
		}
		if err != nil {
			r.Log.Warn("fetched line left out", "ref", ref.Name, "error", err)
			continue
		}
		again := FirstName(line) != line && !strings.HasSuffix(line, e.ID[:BeginningDigits])
		tips = append(tips, FetchedLine{LineEvent: e, From: whose(store), again: again})
	}
	return tips, nil
}

// fetchedName splits the ref of a fetched line into its store and its name there.
func fetchedName(ref string) (store, line string) {
	store, line, _ = strings.Cut(strings.TrimPrefix(ref, RefRemotes), "/")
	return store, line
}
