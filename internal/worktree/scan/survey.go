package scan

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/index"
)

// ErrLimit: a scan found more than MaxFiles or MaxBytes.
var ErrLimit = errors.New("more than the limit")

// The amount of files and bytes to read from which on OnGrowth is called: far above a usual change
// and far below a long read. A first scan, which may be a mistake, calls it sooner.
const (
	growthFiles = 20_000
	growthBytes = 256 << 20
	firstFiles  = 1_000
	firstBytes  = 16 << 20
)

// exactUpTo is the number of files that a survey examines. Beyond it, only names are counted, so
// that a refusal for too many files comes soon.
const exactUpTo = 200_000

// Tally counts the files of a directory.
type Tally struct {
	Path  string // "" = the root itself
	Files int
	Bytes int64 // that must be read
}

// count adds the files of a directory to the total.
func (w *worker) count(n *node) error {
	total := w.scanner.files.Add(int64(w.files))
	w.record(n)
	w.files = 0
	if w.MaxFiles > 0 && total > int64(w.MaxFiles) {
		return ErrLimit
	}
	return nil
}

// record stores the tally of a directory, also of a part of it.
func (w *worker) record(n *node) {
	if !w.survey {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tally[n.path] = Tally{n.path, w.files, w.surveyed}
	w.surveyed = 0
}

// announce is called before each read of a file.
func (w *worker) announce(size int64) (err error) {
	fresh, due := w.fresh.Add(1), w.due.Add(size)
	if w.survey {
		w.surveyed += size
	} else if w.OnGrowth != nil && w.grown(fresh, due) {
		w.growth.Do(func() { w.refused = w.OnGrowth() })
		err = w.refused // every worker returns the error; others would read on until the first one has reported it
	}
	switch {
	case err != nil:
		return err
	case w.MaxBytes > 0 && due > w.MaxBytes:
		return ErrLimit
	}
	if late, err := w.overdue(); late {
		return errUnread
	} else if err != nil {
		return err
	}
	return nil
}

// grown reports whether the counts require a call of OnGrowth.
func (sc *scanner) grown(files, bytes int64) bool {
	if sc.first {
		return files >= firstFiles || bytes >= firstBytes
	}
	return files >= growthFiles || bytes >= growthBytes
}

// Survey walks as Run would, but only counts. It stops when a limit is exceeded, and then returns
// ErrLimit with the counts so far. Index and Sink are unchanged. Each tally is of one directory
// alone; Largest adds them up.
func (s *Walk) Survey(ctx context.Context) ([]Tally, error) {
	sc := &scanner{Walk: s, ctx: ctx, survey: true, tally: make(map[string]Tally)}
	_, err := sc.walk()
	list := make([]Tally, 0, len(sc.tally))
	for _, t := range sc.tally {
		list = append(list, t)
	}
	return list, err
}

// Largest returns up to n directories with the largest sums, each including everything below it. If
// one sub-directory holds nearly all of a directory, it replaces that directory. If the directories
// found hold only a small part, their parent is returned. If most lies in the root itself, the root
// is returned.
func Largest(tallies []Tally, n int, measure func(Tally) int64) []Tally {
	w := weights{own: make(map[string]Tally), sums: make(map[string]*Tally), below: make(map[string][]string), measure: measure}
	for _, t := range tallies {
		w.add(t)
	}
	top := w.narrow("")
	var list []Tally
	for _, child := range w.below[top] {
		list = append(list, *w.sums[w.narrow(child)])
	}
	slices.SortFunc(list, func(a, b Tally) int {
		return cmp.Or(cmp.Compare(measure(b), measure(a)), cmp.Compare(a.Path, b.Path))
	})
	list = list[:min(n, len(list))]
	var most int64
	for _, t := range list {
		most += measure(t)
	}
	if sum := w.sums[top]; sum != nil && (len(list) == 0 || measure(w.own[top]) > measure(list[0]) || top != "" && most < measure(*sum)/2) {
		return []Tally{*sum}
	}
	return list
}

// weights are tallies, and their sums over everything below.
type weights struct {
	own     map[string]Tally
	sums    map[string]*Tally
	below   map[string][]string
	measure func(Tally) int64
}

func (w *weights) add(t Tally) {
	w.own[t.Path] = t
	for at := t.Path; ; at, _ = index.Split(at) {
		sum := w.sums[at]
		if sum == nil {
			sum = &Tally{Path: at}
			w.sums[at] = sum
			if dir, _ := index.Split(at); at != "" {
				w.below[dir] = append(w.below[dir], at)
			}
		}
		sum.Files += t.Files
		sum.Bytes += t.Bytes
		if at == "" {
			return
		}
	}
}

// narrow descends as long as one sub-directory holds nearly everything.
func (w *weights) narrow(dir string) string {
	for _, child := range w.below[dir] {
		if w.measure(*w.sums[child])*10 >= w.measure(*w.sums[dir])*9 {
			return w.narrow(child)
		}
	}
	return dir
}
