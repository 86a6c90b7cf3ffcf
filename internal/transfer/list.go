package transfer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/identity"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// RemoteProject is a project on a remote.
type RemoteProject struct {
	Key    string        `json:"key"` // its name among the refs
	ID     string        `json:"id,omitempty"`
	Root   string        `json:"rootCommit,omitempty"` // root commit of the user's repository
	Within state.Path    `json:"within,omitempty"`
	Name   state.Path    `json:"name,omitempty"` // directory on the machine that pushed last in the list
	Here   bool          `json:"here,omitempty"` // it is the project that was asked from
	Stores []RemoteStore `json:"stores"`
}

// RemoteStore is the store of one machine, user and directory on a remote. Releases that left no note
// gave no Machine, User and Root.
type RemoteStore struct {
	Store    string          `json:"storeID"`
	Machine  string          `json:"machine,omitempty"`
	User     string          `json:"user,omitempty"`
	Root     state.Path      `json:"root,omitempty"`
	Own      bool            `json:"own,omitempty"` // this store itself
	Sessions []RemoteSession `json:"sessions"`      // newest first
}

// RemoteSession is a session on a remote. Where the store left no note, only ID is known.
type RemoteSession struct {
	ID       string    `json:"id"`
	Title    string    `json:"title,omitempty"`
	Agent    string    `json:"agent,omitempty"`
	Updated  time.Time `json:"updated,omitzero"`
	Messages int       `json:"messages,omitempty"`
	Steps    int       `json:"steps,omitempty"`

	parent string // whose sub-agent it is
	ref    string // on the remote, below that of the store
	sealed bool   // it lies sealed there
}

// ListRemote lists what stores have pushed to a git repository. cairn.Repo.ListRemote states the
// contract.
func (r *Transport) ListRemote(ctx context.Context, where string, all bool) ([]RemoteProject, error) {
	where, err := given(where, r.Source)
	if err != nil {
		return nil, err
	}
	m, err := r.open(where)
	if err != nil {
		return nil, err
	}
	return r.list(ctx, m, all)
}

func (r *Transport) list(ctx context.Context, m *remote, all bool) ([]RemoteProject, error) {
	p, _, err := r.Project(ctx)
	if err != nil {
		return nil, err
	}
	keys := p.Keys(r.Root)
	list, err := r.listRemote(ctx, m, keys, all)
	if err == nil && !all && len(list) == 0 {
		list, err = r.listRemote(ctx, m, keys, true)
	}
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", m, err)
	}
	return list, nil
}

func (r *Transport) listRemote(ctx context.Context, m *remote, keys []string, all bool) (list []RemoteProject, err error) {
	q, err := r.DB.QuarantineAlone()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, q.Discard()) }()
	specs := []string{"+" + refAbout + "*:" + refAbout + "*"}
	if !all {
		specs = nil
		for _, key := range keys {
			specs = append(specs, aboutSpec(key))
		}
	}
	if err := m.fetchInto(ctx, q, append(specs, notesSpec)); err != nil {
		return nil, err
	}
	own, err := r.DB.Identity(false)
	if err != nil && !errors.Is(err, odb.ErrNotFound) {
		return nil, err
	}
	b := &listing{keys: keys, own: own, projects: make(map[string]*RemoteProject)}
	notes, err := aboutRefs(q)
	if err != nil {
		return nil, err
	}
	for _, note := range notes {
		a, err := readAbout(q, note.id)
		if err != nil {
			r.Log.Warn("note of a store left out", "store", note.store, "error", err)
			continue
		}
		b.add(note, a, false)
	}
	if err := r.addSealed(q, b, all); err != nil {
		return nil, err
	}
	if all {
		if err := b.addOld(ctx, m, q.Dir()); err != nil {
			return nil, err
		}
	}
	return b.sorted(), nil
}

// listing collects the projects of a remote.
type listing struct {
	keys     []string // of the project that asks
	own      string
	projects map[string]*RemoteProject
}

func (b *listing) project(key string) *RemoteProject {
	p := b.projects[key]
	if p == nil {
		p = &RemoteProject{Key: key, Here: slices.Contains(b.keys, key), Stores: []RemoteStore{}}
		b.projects[key] = p
	}
	return p
}

// addSealed adds the stores that push sealed, and logs how many of them cannot be read.
func (r *Transport) addSealed(q *odb.Quarantine, b *listing, all bool) error {
	notes, err := r.sealedNotes(q)
	if err != nil {
		return err
	}
	for _, note := range notes.open {
		if !all && !slices.Contains(b.keys, note.Key) {
			continue
		}
		a, err := parseAbout(note.About)
		if err != nil {
			r.Log.Warn("note of a store left out", "store", note.Store, "error", err)
			continue
		}
		b.add(aboutRef{key: note.Key, store: note.Store}, a, true)
	}
	if notes.closed > 0 && (all || len(b.projects) > 0) { // else all projects are listed next
		r.Log.Warn(notes.remark())
	}
	return nil
}

func (b *listing) add(note aboutRef, a *about, sealed bool) {
	p := b.project(note.key)
	p.ID, p.Root, p.Within, p.Name = a.Project.Given, a.Project.Root, a.Project.Within, a.Name
	s := RemoteStore{
		Store: note.store, Machine: a.Machine, User: a.User, Root: a.Root, Own: note.store == b.own,
		Sessions: []RemoteSession{},
	}
	for _, x := range a.Sessions {
		s.Sessions = append(s.Sessions, RemoteSession{
			ID: x.ID, Title: x.Title, Agent: x.Agent, Updated: timeOfNote(x.At), Messages: x.Messages, Steps: x.Steps,
			parent: x.Parent, ref: x.Ref, sealed: sealed,
		})
	}
	if i := slices.IndexFunc(p.Stores, func(old RemoteStore) bool { return old.Store == s.Store }); i >= 0 {
		p.Stores[i].Sessions = newerOf(p.Stores[i].Sessions, s.Sessions)
		return
	}
	p.Stores = append(p.Stores, s)
}

// newerOf merges the sessions of one store that pushed openly and sealed. Of one session the newer state
// counts.
func newerOf(old, more []RemoteSession) []RemoteSession {
	list := slices.Concat(old, more)
	slices.SortStableFunc(list, func(x, y RemoteSession) int {
		return cmp.Or(y.Updated.Compare(x.Updated), strings.Compare(x.ID, y.ID))
	})
	seen := make(map[string]bool)
	return slices.DeleteFunc(list, func(s RemoteSession) bool {
		before := seen[s.ID]
		seen[s.ID] = true
		return before
	})
}

// addOld adds the stores that left no note, by the names of all refs.
func (b *listing) addOld(ctx context.Context, m *remote, dir string) error {
	out, err := m.Run(ctx, dir, []string{"ls-remote", "--quiet", "--refs"}, []string{history.RefRoot + "*"})
	if err != nil {
		return err
	}
	for line := range strings.Lines(out) {
		_, name, _ := strings.Cut(strings.TrimRight(line, "\n"), "\t")
		parts := strings.SplitN(strings.TrimPrefix(name, history.RefRoot), "/", 3)
		if !strings.HasPrefix(name, history.RefRoot) || len(parts) != 3 || !identity.IsKey(parts[0]) || !isStoreID(parts[1]) {
			continue
		}
		p := b.project(parts[0])
		i := slices.IndexFunc(p.Stores, func(s RemoteStore) bool { return s.Store == parts[1] })
		if i < 0 {
			p.Stores = append(p.Stores, RemoteStore{Store: parts[1], Own: parts[1] == b.own, Sessions: []RemoteSession{}})
			i = len(p.Stores) - 1
		}
		s := &p.Stores[i]
		if id, ok := strings.CutPrefix(parts[2], "sessions/"); ok && s.Root == "" {
			s.Sessions = append(s.Sessions, RemoteSession{ID: id, ref: parts[2]})
		}
	}
	return nil
}

// sorted lists the project that asks first, then by name.
func (b *listing) sorted() []RemoteProject {
	list := []RemoteProject{}
	for _, p := range b.projects {
		list = append(list, *p)
	}
	slices.SortFunc(list, func(x, y RemoteProject) int {
		if x.Here != y.Here {
			return map[bool]int{true: -1, false: 1}[x.Here]
		}
		return cmp.Or(strings.Compare(string(x.Name), string(y.Name)), strings.Compare(x.Key, y.Key))
	})
	return list
}
