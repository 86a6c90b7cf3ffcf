package history

import (
	"context"
	"errors"
	"iter"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// fetchedLog is LogOf for the lines of other stores and for imported checkpoints. The lines of one store are states
// of one disk; those of several are brought into the order of time.
func (r *Store) fetchedLog(ctx context.Context, opt LogOptions) iter.Seq2[*Checkpoint, error] {
	return func(yield func(*Checkpoint, error) bool) {
		sources, err := r.fetchedSources()
		if err != nil {
			yield(nil, err)
			return
		}
		m := &newestOf{}
		defer m.stop()
		for _, s := range sources {
			m.add(s.from, r.logOf(ctx, lines{foreign: s.lines}, opt))
		}
		m.run(yield)
	}
}

// fetchedSource is another store, or all bundles.
type fetchedSource struct {
	from  *Machine
	lines []odb.Ref
}

// fetchedSources lists where fetched and imported checkpoints come from, in the order of the stores' ids.
func (r *Store) fetchedSources() (list []*fetchedSource, err error) {
	refs, err := r.refsBelow(RefImported, RefRemotes)
	if err != nil {
		return nil, err
	}
	whose := r.whose()
	of := make(map[string]*fetchedSource)
	for _, ref := range refs {
		store := ""
		if strings.HasPrefix(ref.Name, RefRemotes) {
			line := ""
			if store, line = fetchedName(ref.Name); !isLine(line) {
				continue
			}
		}
		if of[store] == nil {
			from := whose(store)
			of[store] = &fetchedSource{from: &from}
			list = append(list, of[store])
		}
		of[store].lines = append(of[store].lines, ref)
	}
	return list, nil
}

// isLine reports whether a name below refs/cairn/ is that of a line of checkpoints.
func isLine(name string) bool {
	return strings.HasPrefix(RefRoot+name, RefTracks) || strings.HasPrefix(RefRoot+name, RefSessions)
}

// newestOf brings several sequences, each with the newest first, into one.
type newestOf struct {
	heads []head
	none  error // of a sequence that has none of the paths
	any   bool  // another one has
}

type head struct {
	from *Machine
	next func() (*Checkpoint, error, bool)
	stop func()
	c    *Checkpoint
	err  error
	ok   bool
}

// add begins a sequence.
func (m *newestOf) add(from *Machine, seq iter.Seq2[*Checkpoint, error]) {
	h := head{from: from}
	h.next, h.stop = iter.Pull2(seq)
	h.c, h.err, h.ok = h.next()
	m.heads = append(m.heads, h)
}

func (m *newestOf) stop() {
	for _, h := range m.heads {
		h.stop()
	}
}

// run yields what the sequences have. The first checkpoint of a line is compared with the one before it on its disk. A
// path that one of them never had is no error where another had it.
func (m *newestOf) run(yield func(*Checkpoint, error) bool) {
	for {
		h := m.newest()
		switch {
		case h == nil:
			if m.none != nil && !m.any {
				yield(nil, m.none)
			}
			return
		case h.err != nil && errors.Is(h.err, state.ErrNotFound) && h.c == nil:
			m.none, h.ok = h.err, false
			continue
		case h.err != nil:
			yield(nil, h.err)
			return
		}
		c := h.c
		c.from, m.any = h.from, true
		h.c, h.err, h.ok = h.next()
		if c.Parent == "" && c.compared == nil && h.ok && h.err == nil {
			c.compared = &h.c.ID
		}
		if !yield(c, nil) {
			return
		}
	}
}

// newest returns the sequence with an error, else the one with the newest checkpoint, nil at the end of all.
func (m *newestOf) newest() (newest *head) {
	for i := range m.heads {
		h := &m.heads[i]
		switch {
		case !h.ok:
		case h.err != nil:
			return h
		case newest == nil || h.c.at > newest.c.at:
			newest = h
		}
	}
	return newest
}
