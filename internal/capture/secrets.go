package capture

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/secretrules"
	"github.com/seed-fb9cbc17/cairn/internal/settings"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// secretSearch looks for credentials in the contents that a capture reads. What earlier captures found
// goes on with the stat cache, because contents that the store holds are not looked at again.
type secretSearch struct {
	rules func() *secretrules.Rules // nil = nothing is looked at
	leave bool                      // files with a credential are left out
	repo  *Capturer

	mu    sync.Mutex
	known map[string][]foundSecret    // by path
	blobs map[object.ID][]foundSecret // the same, by contents
	list  []foundSecret               // those of the captured state, by path; set by record
}

// foundSecret is a credential in a file, found in contents with an id.
type foundSecret struct {
	Path state.Path `json:"path"`
	ID   string     `json:"id"`
	Rule string     `json:"rule"`
	Line int        `json:"line,omitempty"`

	fresh bool // this capture found it
}

// searchSecrets prepares the search of a capture. Without a stat cache the newest checkpoint tells what
// was found before.
func (r *Capturer) searchSecrets(ctx context.Context, x *index.Index, before auxiliary) (*secretSearch, error) {
	s := &secretSearch{repo: r, known: make(map[string][]foundSecret), blobs: make(map[object.ID][]foundSecret)}
	var err error
	s.leave = r.Opt.Secrets == settings.SecretsSkip || r.Opt.Secrets == settings.SecretsRefuse
	if s.rules, err = r.rulesWhenNeeded(); err != nil {
		return nil, err
	}
	list := before.Secrets
	if x.Root() == nil {
		if list, err = r.recordedSecrets(ctx); err != nil {
			return nil, err
		}
	}
	for _, f := range list {
		f.fresh = false
		s.remember(string(f.Path), f)
	}
	return s, nil
}

// rulesWhenNeeded returns nil if nothing is to be looked at. A file of rules is read at once, for its
// errors. The own rules have none, and are compiled for the first new contents: most captures have none.
func (r *Capturer) rulesWhenNeeded() (func() *secretrules.Rules, error) {
	switch {
	case r.Opt.Secrets == settings.SecretsOff:
		return nil, nil
	case r.Opt.SecretRules == "":
		return func() *secretrules.Rules { rules, _ := secretrules.Own(); return rules }, nil
	}
	rules, err := r.SecretRules()
	return func() *secretrules.Rules { return rules }, err
}

// SecretRules returns the rules of the settings. They are read once.
func (r *Capturer) SecretRules() (*secretrules.Rules, error) {
	if r.Opt.SecretRules == "" {
		return secretrules.Own()
	}
	r.secretOnce.Do(func() { r.secretFile, r.secretErr = secretrules.Load(r.Opt.SecretRules) })
	return r.secretFile, r.secretErr
}

// recordedSecrets returns what the newest checkpoint says.
func (r *Capturer) recordedSecrets(ctx context.Context) (list []foundSecret, err error) {
	newest, err := r.Newest(ctx)
	if err != nil || newest == nil {
		return nil, err
	}
	recorded, err := newest.Secrets()
	if err != nil {
		return nil, nil // a checkpoint of a later release: it says nothing here
	}
	for _, s := range recorded {
		e, err := r.EntryOrNil(history.TreeOf(newest), string(s.Path))
		if err != nil || e == nil {
			continue
		}
		list = append(list, foundSecret{Path: s.Path, ID: e.ID.String(), Rule: s.Rule, Line: s.Line})
	}
	return list, nil
}

func (s *secretSearch) remember(path string, f foundSecret) {
	s.known[path] = append(s.known[path], f)
	if id, err := object.ParseID(f.ID); err == nil {
		s.blobs[id] = append(s.blobs[id], f)
	}
}

// Inspect implements scan.Inspector.
func (s *secretSearch) Inspect(path string, id object.ID, content []byte) (leave bool) {
	return s.note(path, id, s.rules().Find(path, content))
}

// InspectFrom implements scan.Inspector.
func (s *secretSearch) InspectFrom(path string, id object.ID, r io.Reader) (leave bool, err error) {
	found, err := s.rules().FindIn(path, r)
	if err != nil {
		return false, err
	}
	return s.note(path, id, found), nil
}

// Held implements scan.Inspector: known contents may have come to another path.
func (s *secretSearch) Held(path string, id object.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := s.blobs[id]
	if len(found) == 0 || len(s.known[path]) > 0 && s.known[path][0].ID == id.String() {
		return
	}
	s.known[path] = nil
	first := found[0].Path
	for _, f := range found {
		if f.Path == first {
			f.Path, f.fresh = state.Path(path), true
			s.known[path] = append(s.known[path], f)
		}
	}
}

// note records the findings in new contents.
func (s *secretSearch) note(path string, id object.ID, found []secretrules.Finding) (leave bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.known[path]
	delete(s.known, path)
	for _, f := range found {
		one := foundSecret{Path: state.Path(path), ID: id.String(), Rule: f.Rule, Line: f.Line}
		one.fresh = !slices.Contains(before, one)
		s.remember(path, one)
	}
	return s.leave && len(found) > 0
}

// maxSecrets is the number of findings that a checkpoint records.
const maxSecrets = 1000

// record lists the findings in the files that the stat cache has.
func (s *secretSearch) record(x *index.Index) {
	for path, found := range s.known {
		rec := x.Lookup(path)
		if rec == nil {
			continue
		}
		for _, f := range found {
			if rec.Skip() == index.Secret || rec.Skip() == index.Captured && rec.ID().String() == f.ID {
				s.list = append(s.list, f)
			}
		}
	}
	slices.SortFunc(s.list, func(a, b foundSecret) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Rule, b.Rule))
	})
	s.list = s.list[:min(len(s.list), maxSecrets)]
}

// recorded returns what the metadata of a state records, for the paths that it covers.
func (s *secretSearch) recorded(c *state.Coverage) []state.Secret {
	list := s.answered(c)
	for i := range list {
		list[i].New = false
	}
	return list
}

// answered is recorded with what is new.
func (s *secretSearch) answered(c *state.Coverage) (list []state.Secret) {
	if s.rules == nil {
		return nil
	}
	for _, f := range s.list {
		if c == nil || c.Covers(string(f.Path)) {
			list = append(list, state.Secret{Path: f.Path, Rule: f.Rule, Line: f.Line, New: f.fresh})
		}
	}
	return list
}

// Refused returns an ErrSecrets if the settings refuse a checkpoint of the captured state.
func (c *Snapshot) Refused() error {
	if c.repo.Opt.Secrets != settings.SecretsRefuse {
		return nil
	}
	var places []string
	for i, f := range c.secrets.answered(nil) {
		if rec := c.Index.Lookup(string(f.Path)); rec == nil || rec.Skip() != index.Secret {
			continue
		}
		if len(places) == maxNamed {
			places = append(places, fmt.Sprintf("and %d more", len(c.secrets.list)-i))
			break
		}
		places = append(places, f.String())
	}
	if len(places) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %s; nothing was stored", state.ErrSecrets, strings.Join(places, ", "))
}

// maxNamed is the number of places that an ErrSecrets names.
const maxNamed = 20
