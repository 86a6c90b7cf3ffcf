package collect

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
	// mergeMax is the size from which a pack with little garbage stays as it is. A copy would
	// need as much temporary space.
	mergeMax = 256 << 20

	// mergedMax is the size of the largest pack that is made out of several.
	mergedMax = 512 << 20

	// maxUnmerged is the number of packs from which a collection with CopyAtOnce merges packs
	// without garbage as well.
	maxUnmerged = 64

	// packAt is how many objects that no search for deltas has seen yet make a search
	// worthwhile.
	packAt = 2000

	// removalsAtOnce is how many files are removed in one hold of the lock.
	removalsAtOnce = 64

	// entryOverhead is what an entry takes in the index of a pack: id, checksum and offset.
	entryOverhead = int64(len(object.ID{}) + 8)
)

// job is a piece of work: packs and loose objects that go, after their live objects were copied
// into one new pack.
type job struct {
	packs   []*pack.Pack
	loose   []object.ID // live loose objects, which go into the new pack
	garbage []object.ID // dead loose objects
	live    int         // live objects of packs and loose, about
	bytes   int64       // size of the live objects
	delta   bool        // git looks for deltas
	pays    bool        // the job has garbage, or more than one pack
}

// packCensus counts the live and dead objects of a pack.
type packCensus struct {
	p               *pack.Pack
	own             bool // cairn wrote the pack
	n, live         int
	size, liveBytes int64 // bytes of all entries, and of the live ones
}

// dirty reports whether copying the live objects of a pack pays: a quarter of it is garbage. Each
// dropped byte costs at most three copied bytes then.
func (s *packCensus) dirty(thorough bool) bool {
	return s.live < s.n && (thorough || s.liveBytes < s.size/4*3)
}

// plan makes jobs by the present marks. The jobs that need no room come first, then small jobs
// before large ones: the room that they free may be the room that the large ones need.
func (g *collector) plan() ([]*job, error) {
	g.marker.Recent = nil
	censuses, err := g.censuses()
	if err != nil {
		return nil, err
	}
	jobs := g.removals(censuses)
	censuses = slices.DeleteFunc(censuses, func(s packCensus) bool { return s.live == 0 })
	slices.SortFunc(censuses, func(a, b packCensus) int { return cmp.Compare(a.liveBytes, b.liveBytes) })
	loose, size := g.liveLoose()
	if g.opt.Pack != nil && g.out.Unpacked == nil && !g.tight {
		if j := g.deltaJob(censuses, loose, size); j != nil {
			return append(jobs, j), nil
		}
	}
	return append(jobs, g.copyJobs(censuses, loose, size)...), nil
}

// censuses counts the objects of the packs of the census. It leaves out packs that are gone,
// protected or damaged.
func (g *collector) censuses() ([]packCensus, error) {
	present, err := g.db.Packs()
	if err != nil {
		return nil, err
	}
	var all []packCensus
	for _, p := range g.packs {
		if g.damaged[p] || !slices.Contains(present, p) || g.protected(p) {
			continue
		}
		s, err := g.count(p)
		if errors.Is(err, pack.ErrCorrupt) || errors.Is(err, pack.ErrGone) {
			g.damaged[p] = true
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// protected reports whether a pack stays as it is: a user gave it a .keep file, or it is borrowed
// and takes no room because the lender still has it.
func (g *collector) protected(p *pack.Pack) bool {
	if _, err := os.Lstat(p.Stem + pack.KeepExt); errors.Is(err, fs.ErrNotExist) {
		return false
	}
	return !g.db.Borrowed(p.Name()) || !g.opt.Thorough && g.db.Shared(p.Name())
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
	places := make([]int64, 0, x.N+1) // twice the offset, plus one for a live object
	err = x.Each(func(r pack.Row) {
		at := 2 * r.Off
		if g.isLive(r.ID) {
			s.live++
			at++
		}
		places = append(places, at)
	})
	places = append(places, 2*body.End)
	slices.Sort(places)
	for i, at := range places[:x.N] {
		s.liveBytes += at & 1 * (places[i+1]/2 - at/2)
	}
	return s, p.Wrap(pack.IndexExt, err)
}

// isLive reports whether an object must not be dropped. An object that came after the census
// counts as live: the marker may not have met it.
func (g *collector) isLive(id object.ID) bool {
	slot, ok := g.marker.Slot(id)
	return !ok || g.marker.Live(slot)
}

// removals returns the jobs that copy nothing.
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
		if !g.isLive(id) {
			garbage = append(garbage, id)
		}
	}
	for part := range slices.Chunk(garbage, removalsAtOnce) {
		jobs = append(jobs, &job{garbage: part})
	}
	return jobs
}

// liveLoose lists the live loose objects, and returns their size: those of a git that writes into the
// store, and borrowed ones that the lender has dropped.
func (g *collector) liveLoose() (ids []object.ID, size int64) {
	for _, id := range g.loose {
		n := g.db.Loose(id).Size()
		if n > 0 && g.isLive(id) {
			ids = append(ids, id)
			size += n
		}
	}
	return ids, size
}

// series returns how many of the packs, sorted by size, become one, so that each of the others is
// at least twice as large as all packs before it. The number of packs is logarithmic therefore,
// and so is the number of copies of an object.
func series(censuses []packCensus, before int64) (n int) {
	for i, s := range censuses {
		if s.liveBytes < 2*before {
			n = i + 1
		}
		before += s.liveBytes
	}
	return n
}

// copyJobs merges the packs with much garbage and the small packs.
func (g *collector) copyJobs(censuses []packCensus, loose []object.ID, size int64) (jobs []*job) {
	small := slices.Clone(censuses)
	if i := slices.IndexFunc(small, func(s packCensus) bool { return s.liveBytes > mergeMax }); i >= 0 {
		small = small[:i]
	}
	merge := series(small, size)
	most := int64(mergedMax)
	if g.opt.CopyAtOnce > 0 {
		most = min(most, g.opt.CopyAtOnce)
		if len(censuses) < maxUnmerged {
			merge = 0
		}
	}
	if g.tight {
		merge, most = 0, 0
	}
	j := &job{loose: loose, live: len(loose), bytes: size, pays: len(loose) > 0}
	for i, s := range censuses {
		dirty := s.dirty(g.opt.Thorough)
		if i >= merge && !dirty {
			continue
		}
		if j.live > 0 && j.bytes+s.liveBytes > most {
			jobs, j = appendPaying(jobs, j), &job{}
		}
		j.add(s)
		j.pays = j.pays || dirty || j.live > s.live
	}
	return appendPaying(jobs, j)
}

// appendPaying leaves out an empty job, and a job that would copy a single clean pack.
func appendPaying(jobs []*job, j *job) []*job {
	if !j.pays {
		return jobs
	}
	return append(jobs, j)
}

// divides reports whether the job can be done in parts.
func (j *job) divides() bool { return len(j.packs) > 1 || len(j.packs) == 1 && len(j.loose) > 0 }

func (j *job) add(s packCensus) {
	j.packs = append(j.packs, s.p)
	j.live += s.live
	j.bytes += s.liveBytes + int64(s.live)*entryOverhead
}

// deltaJob puts all objects that no search for deltas has seen into one job, together with the
// packs of git's that are small beside them or hold much garbage. It returns nil where the
// search does not pay yet.
func (g *collector) deltaJob(censuses []packCensus, loose []object.ID, size int64) *job {
	j := &job{loose: loose, live: len(loose), bytes: size, delta: true}
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
	merge := series(others, j.bytes)
	for i, s := range others {
		if i < merge || s.dirty(g.opt.Thorough) {
			j.add(s)
		}
	}
	return j
}

// estimate sets the number of bytes that a collection would free.
func (g *collector) estimate() error {
	censuses, err := g.censuses()
	if err != nil {
		return err
	}
	for _, s := range censuses {
		if s.live == 0 || s.dirty(g.opt.Thorough) {
			g.out.Freed += s.size - s.liveBytes + int64(s.n-s.live)*entryOverhead
		}
	}
	for _, id := range g.loose {
		if !g.isLive(id) {
			g.out.Freed += g.db.Loose(id).Size()
		}
	}
	return nil
}
