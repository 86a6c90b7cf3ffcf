package transfer

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
)

// ErrNoRemote: a call names no remote, no push has gone to one, and the setting sync names none.
var ErrNoRemote = errors.New("no remote is given and none is remembered (push to one by its URL or path; that remembers it)")

// maxStandings is the number of remotes whose standing a store keeps. Beyond it the one that was tried
// first goes.
const maxStandings = 8

// maxErrorText bounds the text of an error that is kept, in bytes.
const maxErrorText = 500

// standing is what this store knows of a remote that it pushes to.
type standing struct {
	Pushed time.Time         `json:"pushed,omitzero"` // the last push that succeeded began
	Whole  time.Time         `json:"whole,omitzero"`  // the last push of every line began
	Tried  time.Time         `json:"tried,omitzero"`  // the last push began
	Failed int               `json:"failed,omitempty"`
	Error  string            `json:"error,omitempty"`  // of the last push, "" if it succeeded
	Sealed string            `json:"sealed,omitempty"` // for which recipients, "" = open
	Tips   map[string]string `json:"tips,omitempty"`   // ids of the newest commits of the lines, by the ends of their refs
	Left   []string          `json:"left,omitempty"`   // those of the lines that it does not take, because their beginning is gone
}

// Remembered returns the remote that Push remembers, "" for none.
func (r *Transport) Remembered() (string, error) { return r.kept(odb.PrivateRemote) }

// kept returns the remote in a private file, "" for none.
func (r *Transport) kept(name odb.Private) (string, error) {
	data, err := r.DB.ReadPrivate(name)
	if errors.Is(err, odb.ErrNotFound) {
		return "", nil
	}
	return strings.TrimSuffix(string(data), "\n"), err
}

// Remote returns the remote of calls that name none: that of the setting sync, else the remembered one,
// "" where there is none.
func (r *Transport) Remote() (string, error) {
	if where, err := r.syncRemote(); err != nil || where != "" {
		return where, err
	}
	return r.Remembered()
}

// Source returns the remote from which calls that name none fetch: Remote, else that from which something was fetched
// last, "" for none. Nothing is ever pushed to the latter: its owner may want it sealed, or not at all.
func (r *Transport) Source() (string, error) {
	if where, err := r.Remote(); err != nil || where != "" {
		return where, err
	}
	return r.kept(odb.PrivateSource)
}

// remoteOr returns the remote that is given, else that of calls that name none.
func (r *Transport) remoteOr(where string) (string, error) { return given(where, r.Remote) }

// given returns the remote that is given, else another one.
func given(where string, other func() (string, error)) (string, error) {
	if where != "" {
		return where, nil
	}
	where, err := other()
	if err == nil && where == "" {
		err = ErrNoRemote
	}
	return where, err
}

// remember keeps a remote for calls that give none. m.url is a URL or an absolute path.
func (r *Transport) remember(ctx context.Context, m *remote) error {
	return r.keep(ctx, odb.PrivateRemote, m)
}

// keep writes a remote to a private file.
func (r *Transport) keep(ctx context.Context, name odb.Private, m *remote) error {
	if known, err := r.kept(name); err == nil && known == m.url {
		return nil
	}
	return r.Exclusive(ctx, func(l *history.Locked) error {
		r.Holds(l)
		return r.DB.WritePrivate(name, []byte(m.url+"\n"))
	})
}

// standings reads the record of remotes. A damaged file says nothing: the next push writes it again.
func (r *Transport) standings() map[string]*standing {
	all := make(map[string]*standing)
	data, err := r.DB.ReadPrivate(odb.PrivatePushed)
	if err == nil {
		err = json.Unmarshal(data, &all)
	}
	if err != nil {
		if !errors.Is(err, odb.ErrNotFound) {
			r.Log.Warn("the state of pushes is not known", "error", err)
		}
		return make(map[string]*standing)
	}
	for where, s := range all {
		if s == nil {
			delete(all, where)
		}
	}
	return all
}

// standingOf returns the record of a remote. It is never nil. Lines that were
// pushed for other recipients count as not pushed.
func (r *Transport) standingOf(where string) *standing {
	all := r.standings()
	s := all[pushedAs(all, where)]
	if s == nil {
		s = &standing{}
	}
	if s.Sealed != r.fingerprint(where) {
		s.Tips, s.Whole = nil, time.Time{}
	}
	return s
}

// noteStanding keeps what a push has found. It takes no lock, because a capture must not wait for it: of
// two pushes that end at once, one may leave no trace, and the next push says the same again.
func (r *Transport) noteStanding(where string, s *standing) error {
	all := r.standings()
	s.Sealed = r.fingerprint(where)
	all[pushedAs(all, where)] = s
	for len(all) > maxStandings {
		delete(all, oldest(all))
	}
	data, err := json.Marshal(all)
	if err != nil {
		return err
	}
	return r.DB.WritePrivate(odb.PrivatePushed, data)
}

// pushedAs returns the name under which a remote is known.
func pushedAs(all map[string]*standing, where string) string {
	return spelled(all, where, func(s *standing) bool { return !s.Pushed.IsZero() })
}

// oldest names the remote that was tried first.
func oldest(all map[string]*standing) (name string) {
	for where, s := range all {
		if name == "" || cmp.Or(s.Tried.Compare(all[name].Tried), strings.Compare(where, name)) < 0 {
			name = where
		}
	}
	return name
}

// succeeded is the standing after a push of lines, some of which were left out.
func succeeded(began time.Time, lines []odb.Ref, left map[string]bool) *standing {
	s := &standing{Pushed: began, Whole: began, Tried: began, Tips: make(map[string]string), Left: slices.Sorted(maps.Keys(left))}
	for _, ref := range lines {
		s.Tips[strings.TrimPrefix(ref.Name, history.RefRoot)] = ref.ID.String()
	}
	return s
}

// failed is the standing after another push that failed.
func (s *standing) failed(began time.Time, err error) *standing {
	text := strings.ToValidUTF8(err.Error(), "?")
	if len(text) > maxErrorText {
		text = strings.ToValidUTF8(text[:maxErrorText], "") + "..."
	}
	return &standing{Pushed: s.Pushed, Whole: s.Whole, Tried: began, Failed: s.Failed + 1, Error: text, Tips: s.Tips, Left: s.Left}
}

// Redacted returns a remote without the password that its URL may have. Git reads URLs that are none for net/url, such as
// one with a % in the password.
func Redacted(where string) string {
	u, err := url.Parse(where)
	switch {
	case err == nil && u.User == nil:
		return where
	case err == nil:
		return u.Redacted()
	}
	at := strings.LastIndexByte(where, '@')
	scheme, user, ok := strings.Cut(where[:max(at, 0)], "://")
	if !ok {
		return where
	}
	if name, _, has := strings.Cut(user, ":"); has {
		user = name + ":xxxxx"
	}
	return scheme + "://" + user + where[at:]
}
