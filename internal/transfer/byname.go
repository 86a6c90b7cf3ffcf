package transfer

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/identity"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/signature"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// FetchProject brings the lines of the project that has a key on the remote. cairn.Repo.FetchProject
// states the contract.
func (r *Transport) FetchProject(ctx context.Context, where, key string) (fetched []string, err error) {
	if !identity.IsKey(key) {
		return nil, state.NotFound("no project %q", key)
	}
	return r.fetchLines(ctx, where, &wanted{specs: []string{lineSpec(key), aboutSpec(key)}, keys: []string{key}})
}

// FetchSession brings one session. cairn.Repo.FetchSession states the contract.
func (r *Transport) FetchSession(ctx context.Context, where, spec string) (id string, fetched []string, err error) {
	if where, err = given(where, r.Source); err != nil {
		return "", nil, err
	}
	m, err := r.open(where)
	if err != nil {
		return "", nil, err
	}
	if id, fetched, err = r.fetchSession(ctx, m, m, spec); err != nil {
		return id, fetched, err
	}
	return id, fetched, r.keep(ctx, odb.PrivateSource, m)
}

// answerWithin is how long FetchNewer waits for a remote that says nothing.
const answerWithin = 5 * time.Second

// FetchNewer is FetchSession for a session that is here: who goes on with it does not wait for a remote that cannot be
// reached. The error is ErrStalled where the remote does not answer within 5 seconds. Once it has answered it has
// the time of Options.RemoteTimeout.
func (r *Transport) FetchNewer(ctx context.Context, where, id string) error {
	m, err := r.open(where)
	if err != nil {
		return err
	}
	asked := *m
	if asked.timeout <= 0 || asked.timeout > answerWithin {
		asked.timeout, asked.limit = answerWithin, "with --from it has longer"
	}
	_, _, err = r.fetchSession(ctx, &asked, m, id)
	return err
}

// fetchSession looks for a session at a remote, and fetches it. asked is the remote with the limits for the look.
func (r *Transport) fetchSession(ctx context.Context, asked, m *remote, spec string) (id string, fetched []string, err error) {
	list, err := r.list(ctx, asked, false)
	if err != nil {
		return "", nil, err
	}
	lines, err := pickSession(list, spec)
	if err != nil {
		return "", nil, r.unknown(ctx, fmt.Errorf("fetch from %s: %w", m, err))
	}
	fetched, err = r.fetchFrom(ctx, m, wantSession(lines))
	return lines[0].id, fetched, err
}

// sessionLine is the line of a session that a store has pushed.
type sessionLine struct {
	key, store string
	ref        string // below that of the store
	id, parent string
	updated    time.Time
	sealed     bool
}

// wantSession names the lines of one session, with the second names of each: a purge may have rewritten it, and a
// cleaning of the remote may have dropped the first name since. A store may also have noted a line that its remote did
// not take. So no name has to be there. The statements about purges and repairs explain signed heads that are gone.
func wantSession(lines []sessionLine) *wanted {
	want := &wanted{only: func(store, name string) bool {
		return slices.ContainsFunc(lines, func(l sessionLine) bool {
			return l.store == store && (name == l.ref || history.FirstName(name) == l.ref ||
				name == signedName(l.ref) || name == signedName(signature.Rewritings))
		})
	}}
	for _, l := range lines {
		if l.sealed {
			want.keys = append(want.keys, l.key)
			continue
		}
		place := l.key + "/" + l.store
		note, name := refAbout+place, place+"/"+l.ref+"*"
		if len(lines) > mostNamed {
			name = place + "/sessions/*"
		}
		want.specs = append(want.specs, "+"+history.RefRoot+name+":"+RefIncoming+name, signedSpec(place+"/*"), "+"+note+":"+note)
	}
	for _, list := range []*[]string{&want.keys, &want.specs} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return want
}

// mostNamed is how many lines a fetch names, because a command line has a limit on Windows. Beyond it all sessions of
// their stores come, and the others are left out.
const mostNamed = 40

// pickSession finds a session of this project that other stores have pushed: "@" is the newest, else an id
// or a prefix that one alone has. The line that was changed last is the first.
func pickSession(list []RemoteProject, spec string) (lines []sessionLine, err error) {
	byID := make(map[string][]sessionLine)
	newest := sessionLine{}
	for _, p := range list {
		for _, store := range p.Stores {
			for _, x := range store.Sessions {
				if !p.Here || store.Own {
					continue
				}
				l := sessionLine{key: p.Key, store: store.Store, ref: x.ref, id: x.ID, parent: x.parent, updated: x.Updated, sealed: x.sealed}
				byID[x.ID] = append(byID[x.ID], l)
				if newest.id == "" || l.updated.After(newest.updated) {
					newest = l
				}
			}
		}
	}
	id, err := pickID(byID, newest.id, spec)
	slices.SortStableFunc(byID[id], func(a, b sessionLine) int { return b.updated.Compare(a.updated) })
	return withSubAgents(byID, id), err
}

// withSubAgents returns the lines of a session, and after them those of its sub-agents.
func withSubAgents(byID map[string][]sessionLine, id string) (lines []sessionLine) {
	lines = slices.Clone(byID[id])
	ids := slices.Sorted(maps.Keys(byID))
	for i := 0; i < len(lines); i++ {
		for _, kid := range ids {
			of := func(l sessionLine) bool { return l.parent == lines[i].id }
			taken := func(l sessionLine) bool { return l.id == kid }
			if slices.ContainsFunc(byID[kid], of) && !slices.ContainsFunc(lines, taken) {
				lines = append(lines, byID[kid]...)
			}
		}
	}
	return lines
}

// pickID finds the id of the session that spec means.
func pickID(byID map[string][]sessionLine, newest, spec string) (string, error) {
	if byID[spec] != nil {
		return spec, nil
	}
	if spec == "@" && newest != "" {
		return newest, nil
	}
	found := slices.DeleteFunc(slices.Sorted(maps.Keys(byID)), func(id string) bool { return !strings.HasPrefix(id, spec) })
	switch {
	case len(found) == 0 || spec == "@":
		return "", state.NotFound("no session %s of this project (cairn fetch --list shows what is there)", spec)
	case len(found) > 1:
		return "", fmt.Errorf("%w: %s could be %s (give more of the id)", state.ErrAmbiguous, spec, strings.Join(found, " or "))
	}
	return found[0], nil
}
