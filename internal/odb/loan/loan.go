package loan

import (
	"io"
	"slices"
	"sync/atomic"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// Want is a blob that is asked for.
type Want struct {
	ID    object.ID
	Size  int64 // bytes of its contents
	Taken bool  // set by Take
}

// Options of Take.
type Options struct {
	// Head reads the header of a loose object in a file of so many bytes.
	Head func(file io.ReaderAt, bytes int64) (object.Kind, int64, error)

	Most int64 // bytes of all linked files together; 0 = no limit
	Sync bool  // flush the links and the contents behind them
}

// Take links the wanted blobs from the object directories, the first that has one, into the object
// directory to. wants is sorted by id, without duplicates. Call it with the lock of the store held.
// A crash leaves whole objects that nothing refers to. An error means that linked objects may not
// survive a loss of power.
func Take(from []string, to string, wants []Want, opt Options) (linked int, err error) {
	t := &taking{opt: opt, from: from, to: to}
	for len(wants) > 0 {
		first := wants[0].ID[0]
		n := slices.IndexFunc(wants, func(w Want) bool { return w.ID[0] != first })
		if n < 0 {
			n = len(wants)
		}
		t.parts = append(t.parts, wants[:n])
		wants = wants[n:]
	}
	err = t.run()
	return int(t.linked.Load()), err
}

// taking is one call of Take.
type taking struct {
	opt   Options
	from  []string
	to    string
	parts [][]Want // one for each directory of loose objects

	next, linked, bytes atomic.Int64
}

// mayHold reports whether a file of so many bytes is within Options.Most, and counts it.
func (t *taking) mayHold(bytes int64) bool {
	return t.bytes.Add(bytes) <= t.opt.Most || t.opt.Most == 0
}
