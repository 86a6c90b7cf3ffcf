package transfer

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/identity"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// refAbout is the prefix of the notes of stores, on a remote and in a quarantine. No project's key is
// "about". Releases that know no notes do not look there.
const refAbout = history.RefRoot + "about/"

// about is the note that a store leaves on a remote beside its lines.
type about struct {
	Version  int              `json:"v"`
	Project  identity.Project `json:"project"`
	Name     state.Path       `json:"name"` // name of the root's directory
	Machine  string           `json:"machine,omitempty"`
	User     string           `json:"user,omitempty"`
	Root     state.Path       `json:"root"`
	Sessions []aboutSession   `json:"sessions"` // newest first
}

// aboutSession describes a session by its newest checkpoint.
type aboutSession struct {
	Ref      string `json:"ref"` // below refs/cairn/ of the store
	ID       string `json:"id"`
	Parent   string `json:"parent,omitempty"` // whose sub-agent it is; earlier releases leave it out
	Title    string `json:"title,omitempty"`
	Agent    string `json:"agent,omitempty"`
	At       int64  `json:"at"` // nanoseconds since 1970
	Messages int    `json:"messages"`
	Steps    int    `json:"steps"`
}

const (
	aboutVersion  = 1
	maxAbout      = 8 << 20 // bytes of a note
	maxNoted      = 10_000  // sessions of a note
	maxNotedTitle = 200     // columns
)

// digest is the part of a session's digest that a list shows. Package session writes it into the
// record of each checkpoint.
type digest struct {
	Now struct {
		ID, Parent, Title, First string
		Meta                     map[string]string
		At                       int64
		Messages, Steps          int
	} `json:"now"`
}

// note describes this store. Equal stores have equal notes.
func (r *Transport) note(ctx context.Context, p identity.Project, lines []odb.Ref) ([]byte, error) {
	a := about{
		Version: aboutVersion, Project: p, Name: state.Path(filepath.Base(r.Root)),
		Machine: r.Opt.Machine, User: r.Opt.User, Root: state.Path(r.Root), Sessions: []aboutSession{},
	}
	for _, ref := range lines {
		if !strings.HasPrefix(ref.Name, history.RefSessions) {
			continue
		}
		s, ok, err := r.noteSession(ctx, ref)
		if err != nil {
			return nil, err
		}
		if ok {
			a.Sessions = append(a.Sessions, s)
		}
	}
	slices.SortFunc(a.Sessions, func(x, y aboutSession) int {
		return cmp.Or(cmp.Compare(y.At, x.At), strings.Compare(x.ID, y.ID))
	})
	a.Sessions = a.Sessions[:min(len(a.Sessions), maxNoted)]
	return json.Marshal(a)
}

// noteSession finds the newest digest of a line. A state that was saved before a revert has none.
func (r *Transport) noteSession(ctx context.Context, ref odb.Ref) (s aboutSession, ok bool, err error) {
	for e, err := range r.Line(ctx, ref.ID.String()) {
		if err != nil {
			return s, false, ctx.Err() // a line that is damaged or cut has no entry
		}
		var d digest
		if len(e.Record) == 0 || json.Unmarshal(e.Record, &d) != nil || d.Now.ID == "" {
			continue
		}
		s = aboutSession{
			Ref: strings.TrimPrefix(ref.Name, history.RefRoot), ID: d.Now.ID, Parent: d.Now.Parent, Agent: d.Now.Meta["agent"],
			At: d.Now.At, Messages: d.Now.Messages, Steps: d.Now.Steps,
		}
		if !r.Opt.NoPrompts {
			s.Title = wording.FirstLine(cmp.Or(d.Now.Title, d.Now.First), maxNotedTitle)
		}
		return s, true, nil
	}
	return s, false, nil
}

// readAbout reads the note of a store from a quarantine. It came from elsewhere.
func readAbout(q *odb.Quarantine, id object.ID) (*about, error) {
	kind, size, err := q.Stat(id)
	if err != nil {
		return nil, err
	}
	if kind != object.Blob || size > maxAbout {
		return nil, fmt.Errorf("%s of %d bytes is no note of a store", kind, size)
	}
	_, data, err := q.Read(id)
	if err != nil {
		return nil, err
	}
	return parseAbout(data)
}

// parseAbout reads the note of a store, which came from elsewhere.
func parseAbout(data []byte) (*about, error) {
	var a about
	if err := json.Unmarshal(data, &a); err != nil {
		return nil, err
	}
	switch {
	case a.Version != aboutVersion:
		return nil, fmt.Errorf("version %d, which a later release of cairn wrote", a.Version)
	case len(a.Sessions) > maxNoted:
		return nil, errors.New("too many sessions")
	}
	a.Sessions = slices.DeleteFunc(a.Sessions, func(s aboutSession) bool { return !isSessionRef(s.Ref) })
	return &a, nil
}

// isSessionRef reports whether a text has the form of a session's ref below that of its store. Any other would be a
// pattern, or no ref, for git.
func isSessionRef(text string) bool {
	name, ok := strings.CutPrefix(history.RefRoot+text, history.RefSessions)
	return ok && name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-_.%+/") == "" && !strings.Contains(name, "..")
}

// aboutRef is a note in a quarantine.
type aboutRef struct {
	key, store string
	id         object.ID
}

// aboutRefs lists the notes that came. A ref with another name is left out.
func aboutRefs(q *odb.Quarantine) (list []aboutRef, err error) {
	refs, err := q.Refs(refAbout)
	if err != nil {
		return nil, err
	}
	for _, ref := range refs {
		key, store, ok := strings.Cut(strings.TrimPrefix(ref.Name, refAbout), "/")
		if ref.Err == nil && ok && identity.IsKey(key) && isStoreID(store) {
			list = append(list, aboutRef{key, store, ref.ID})
		}
	}
	return list, nil
}

func isStoreID(text string) bool {
	return len(text) == 16 && strings.Trim(text, "0123456789abcdef") == ""
}

// writeMachines adds to the record of other stores. A damaged file is replaced.
func (r *Transport) writeMachines(l *history.Locked, more map[string]history.Machine) error {
	r.Holds(l)
	known, err := r.Machines()
	if err != nil {
		known = make(map[string]history.Machine)
	}
	changed := false
	for store, m := range more {
		changed = changed || known[store] != m
		known[store] = m
	}
	if !changed {
		return nil
	}
	data, err := json.Marshal(known)
	if err != nil {
		return err
	}
	return r.DB.WritePrivate(odb.PrivateMachines, data)
}

func timeOfNote(at int64) time.Time { return time.Unix(0, at).UTC() }
