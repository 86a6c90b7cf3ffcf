package capture

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// Metadata returns the metadata of the capture, computed at the first call.
func (c *Snapshot) Metadata() *state.Metadata {
	if c.meta == nil {
		c.meta = describe(c.Index, c.rules.context, &state.RulesBeside{Texts: c.rules.aux.RuleTexts, Misjudged: c.misjudged}, c.covered)
		c.meta.Git = c.git.id
		c.meta.Secrets = c.secrets.recorded(c.covered)
		if c.rules.user != nil && (c.covered == nil || c.covered.Kind != state.ExtentPaths) {
			c.meta.Skipped = append(c.meta.Skipped, c.rules.user.sparse(c.Index)...)
			c.meta.Skipped = append(c.meta.Skipped, c.rules.user.ignoredSubmodules(c.repo.Root, c.Index, c.meta)...)
		}
	}
	return c.meta
}

// beginDescription begins to count what the metadata of a first capture need to know of every file, and returns a
// function that waits for it. Nothing else may use the index meanwhile but to look at its directories.
func (c *Snapshot) beginDescription() func() {
	if c.Index.KnownFiles() > 0 {
		return func() {}
	}
	var counting sync.WaitGroup
	counting.Go(func() { c.Index.Odd(usualOf(c.Index)) })
	return counting.Wait
}

// describe collects the metadata of the state in an index, limited to the paths that c covers.
func describe(x *index.Index, ig state.IgnoreContext, beside *state.RulesBeside, c *state.Coverage) *state.Metadata {
	usual := usualOf(x)
	m := &state.Metadata{
		Version: state.MetadataVersion, Perms: make(state.PathPerms), Ignore: ig,
		Perm: state.Permissions{File: state.Octal(usual.File), Exec: state.Octal(usual.Exec), Dir: state.Octal(usual.Dir)},
	}
	d := description{Metadata: m, index: x, covered: c, odd: leadTo(x.Odd(usual))}
	d.collect("")
	m.Rules = beside.Record(d.rules)
	if c == nil {
		return m
	}
	m.Version, m.Partial = state.MetadataVersionPartial, c.Kind
	m.Skipped = append(m.Skipped, c.Skipped...)
	slices.SortFunc(m.Skipped, func(a, b state.Skipped) int { return cmp.Compare(a.Path, b.Path) })
	m.Seen = pathtext.Texts(slices.Sorted(maps.Keys(c.Seen)))
	return m
}

func usualOf(x *index.Index) index.Perms {
	return x.Usual(index.Perms{File: 0o644, Exec: 0o755, Dir: 0o755})
}

// leadTo returns the directories and all directories above them, each with the names below it that are
// among them.
func leadTo(dirs map[string]struct{}) map[string]map[string]struct{} {
	all := make(map[string]map[string]struct{}, 2*len(dirs))
	for dir := range dirs {
		if all[dir] == nil {
			all[dir] = make(map[string]struct{})
		}
		for dir != "" {
			above, name := index.Split(dir)
			_, done := all[above][name]
			if done {
				break
			}
			if all[above] == nil {
				all[above] = make(map[string]struct{})
			}
			all[above][name] = struct{}{}
			dir = above
		}
	}
	return all
}

// description is metadata in the making.
type description struct {
	*state.Metadata
	index   *index.Index
	covered *state.Coverage
	odd     map[string]map[string]struct{} // no other directory has an exception to record, see leadTo
	rules   []state.DirOfRules
}

// usual reports whether an entry of a directory needs no path: it is captured, has the usual bits, and
// leads to no exception. Nearly all are usual.
func (m *description) usual(rec index.Record, odd map[string]struct{}) bool {
	mode := rec.Mode()
	if m.covered != nil || rec.Skip() != index.Captured || state.Octal(rec.Perm()) != m.Perm.Of(mode) {
		return false
	}
	if mode != object.Dir {
		return mode.IsFile()
	}
	_, leads := odd[string(rec.Name())]
	return !leads && !rec.ID().IsZero()
}

func (m *description) collect(dir string) {
	d := m.index.Dirs[dir]
	odd, ok := m.odd[dir]
	if !ok || d == nil {
		return
	}
	for rec := range d.All {
		if m.usual(rec, odd) {
			continue
		}
		mode, skip := rec.Mode(), rec.Skip()
		path := index.Join(dir, string(rec.Name()))
		if state.HasUncapturedRules(rec) {
			m.rules = append(m.rules, state.DirOfRules{Dir: dir, ID: rec.ID()})
		}
		if skip == index.Rules {
			continue
		}
		switch {
		case !m.covered.Covers(path):
			if mode == object.Dir {
				m.collect(path)
			}
			continue
		case skip != index.Captured:
			m.Skipped = append(m.Skipped, state.Skipped{Path: state.Path(path), Reason: skip.String(), Size: rec.Stat().Size})
			continue
		case mode == object.Symlink:
			continue
		case mode == object.Dir && rec.ID().IsZero() && rec.Empty():
			m.Empty = append(m.Empty, state.Path(path))
		case mode == object.Dir && rec.ID().IsZero():
			m.Bare = append(m.Bare, state.Path(path))
		}
		if state.Octal(rec.Perm()) != m.Perm.Of(mode) {
			m.Perms[path] = state.Octal(rec.Perm())
		}
		if mode == object.Dir {
			m.collect(path)
		}
	}
}
