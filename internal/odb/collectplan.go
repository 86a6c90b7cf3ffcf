package odb

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
)

const (
	// mergeMax is the size from which a pack without much garbage is left alone: it is
	// large enough, and copying it would take its size of temporary space.
	mergeMax = 256 << 20

	// mergedMax is the size of the largest pack that is made out of several.
	mergedMax = 512 << 20

	// maxUnmerged is the number of packs from which a Collect with CopyAtOnce merges packs
	// without garbage, too.
	maxUnmerged = 64

	// packAt is how many objects that never were in a delta make it worth while to
	// look for deltas.
	packAt = 2000

	// removalsAtOnce is how many files are removed before somebody else may have the
	// lock.
	removalsAtOnce = 64
)

// job is a piece of work: packs and loose objects that go, after what is kept of
// them was put into one new pack.
type job struct {
	packs   []*pack.Pack
	loose   []object.ID // kept: they go into the new pack
	garbage []object.ID // loose and not kept
	kept    int         // objects in the packs and loose ones that are kept, about
	need    int64       // bytes of them
	delta   bool        // look for deltas
	pays    bool        // there is garbage in it, or more than one pack
}

// packCensus counts the live and dead objects of a pack.
type packCensus struct {
	p          *pack.Pack
	own        bool
	n, live    int
	size, kept int64 // bytes of all entries and of those that are kept
}

// dirty reports whether there is so much garbage in a pack that copying the rest
// pays: a quarter. Every byte that is dropped costs three that are copied then.
func (s *packCensus) dirty(thorough bool) bool {
	return s.live < s.n && (thorough || s.kept < s.size/4*3)
}

// plan decides what is to be done by the marks as they are. First come those jobs
// that need no room, then small ones before large ones: what they free may be what
// the large ones need.
func (g *collector) plan() ([]*job, error) {
	g.m.recent = nil
	censuses, err := g.censuses()
	if err != nil {
		return nil, err
	}
	jobs := g.removals(censuses)
	censuses = slices.DeleteFunc(censuses, func(s packCensus) bool { return s.live == 0 })
	slices.SortFunc(censuses, func(a, b packCensus) int { return cmp.Compare(a.kept, b.kept) })
	loose, size := g.liveLoose()
	if g.c.Pack != nil && g.out.Unpacked == nil {
		if j := g.deltaJob(censuses, loose, size); j != nil {
			return append(jobs, j), nil
		}
	}
	return append(jobs, g.copyJobs(censuses, loose, size)...), nil
}

// censuses counts the objects of the packs of the census that are still there and may be
// touched.
func (g *collector) censuses() ([]packCensus, error) {
	present := g.db.packs.Load().packs
	var all []packCensus
	for _, p := range g.packs {
		if g.bad[p] || !slices.Contains(present, p) || g.held(p) {
			continue
		}
		s, err := g.count(p)
		if errors.Is(err, pack.ErrCorrupt) || errors.Is(err, pack.ErrGone) {
			g.bad[p] = true
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// held reports whether a pack is to be left alone: because somebody asked git for it,
// or because it is borrowed and takes no room as long as the lender has it, too.
func (g *collector) held(p *pack.Pack) bool {
	if _, err := os.Lstat(p.Stem + pack.KeepExt); errors.Is(err, fs.ErrNotExist) {
		return false
	}
	return !g.db.Borrowed(p.Name()) || !g.c.Thorough && isShared(p)
}

func (g *collector) count(p *pack.Pack) (packCensus, error) {
	s := packCensus{p: p, own: p.Own()}
	x, err := p.Index()
	if err != nil {
		return s, err
	}
	body, err := p.Body()
	if err != nil {
		return s, err
	}
	s.n, s.size = x.N, body.End-pack.HeadSize
	places := make([]int64, 0, x.N+1) // twice the offset, and one for what is kept
	err = x.Each(func(r pack.Row) {
		at := 2 * r.Off
		if g.keeps(r.ID) {
			s.live++
			at++
		}
		places = append(places, at)
	})
	places = append(places, 2*body.End)
	slices.Sort(places)
	for i, at := range places[:x.N] {
		s.kept += at & 1 * (places[i+1]/2 - at/2)
	}
	return s, p.Wrap(pack.IndexExt, err)
}

// keeps reports whether an object must not be dropped. What the census does not know
// nobody has looked at.
func (g *collector) keeps(id object.ID) bool {
	slot, ok := g.m.slot(id)
	return !ok || g.m.live.has(slot)
}

// removals are the jobs that copy nothing.
func (g *collector) removals(censuses []packCensus) []*job {
	var jobs []*job
	var dead []*pack.Pack
	for _, s := range censuses {
		if s.live == 0 {
			dead = append(dead, s.p)
		}
	}
	for part := range slices.Chunk(dead, removalsAtOnce) {
		jobs = append(jobs, &job{packs: part})
	}
	var garbage []object.ID
	for _, id := range g.loose {
		if !g.keeps(id) {
			garbage = append(garbage, id)
		}
	}
	for part := range slices.Chunk(garbage, removalsAtOnce) {
		jobs = append(jobs, &job{garbage: part})
	}
	return jobs
}

// liveLoose lists the loose objects that are kept, and their size. Git writes them,
// if somebody lets it write into the store.
func (g *collector) liveLoose() (ids []object.ID, size int64) {
	for _, id := range g.loose {
		n := fileSize(g.db.loose(id).path)
		if n > 0 && g.keeps(id) {
			ids = append(ids, id)
			size += n
		}
	}
	return ids, size
}

// series returns how many of the packs, sorted by size, are to become one so that
// each of the others is at least twice as large as all before it. Hence the number
// of packs is logarithmic, and so is how often an object is copied.
func series(censuses []packCensus, before int64) (n int) {
	for i, s := range censuses {
		if s.kept < 2*before {
			n = i + 1
		}
		before += s.kept
	}
	return n
}

// copyJobs are the packs with much garbage, and the small ones, merged.
func (g *collector) copyJobs(censuses []packCensus, loose []object.ID, size int64) (jobs []*job) {
	small := slices.Clone(censuses)
	if i := slices.IndexFunc(small, func(s packCensus) bool { return s.kept > mergeMax }); i >= 0 {
		small = small[:i]
	}
	merge := series(small, size)
	most := int64(mergedMax)
	if g.c.CopyAtOnce > 0 {
		most = min(most, g.c.CopyAtOnce)
		if len(censuses) < maxUnmerged {
			merge = 0
		}
	}
	j := &job{loose: loose, kept: len(loose), need: size, pays: len(loose) > 0}
	for i, s := range censuses {
		dirty := s.dirty(g.c.Thorough)
		if i >= merge && !dirty {
			continue
		}
		if j.kept > 0 && j.need+s.kept > most {
			jobs, j = appendPaying(jobs, j), &job{}
		}
		j.add(s)
		j.pays = j.pays || dirty || j.kept > s.live
	}
	return appendPaying(jobs, j)
}

// appendPaying leaves out a job that has nothing to do, or a single clean pack to copy.
func appendPaying(jobs []*job, j *job) []*job {
	if !j.pays {
		return jobs
	}
	return append(jobs, j)
}

func (j *job) add(s packCensus) {
	j.packs = append(j.packs, s.p)
	j.kept += s.live
	j.need += s.kept + int64(s.live)*int64(idSize+8)
}

// deltaJob puts all that was never looked at for deltas into one job, together with
// the packs of git's that are small beside it or hold much garbage. It is nil where
// that does not pay yet.
func (g *collector) deltaJob(censuses []packCensus, loose []object.ID, size int64) *job {
	j := &job{loose: loose, kept: len(loose), need: size, delta: true}
	fresh := len(loose)
	var others []packCensus
	for _, s := range censuses {
		if s.own {
			fresh += s.live
			j.add(s)
		} else {
			others = append(others, s)
		}
	}
	if fresh < packAt {
		return nil
	}
	merge := series(others, j.need)
	for i, s := range others {
		if i < merge || s.dirty(g.c.Thorough) {
			j.add(s)
		}
	}
	return j
}

// estimate says what would be freed.
func (g *collector) estimate() error {
	censuses, err := g.censuses()
	if err != nil {
		return err
	}
	for _, s := range censuses {
		if s.live == 0 || s.dirty(g.c.Thorough) {
			g.out.Freed += s.size - s.kept + int64(s.n-s.live)*int64(idSize+8)
		}
	}
	for _, id := range g.loose {
		if !g.keeps(id) {
			g.out.Freed += fileSize(g.db.loose(id).path)
		}
	}
	return nil
}
