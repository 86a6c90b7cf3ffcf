package capture

import (
	"os"
	"slices"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// lastCapture is what a Capturer remembers from one capture to the next. It counts only while no
// other process has held the store's lock (see Capturer.Forget), and the files of the stat cache and
// the packs are as this Capturer left them.
type lastCapture struct {
	index *index.Index // nil = nothing: a capture is under way, or has failed
	files [2]fileState // of the stat cache
	aux   auxiliary    // of the index, decoded

	answer *answer // of the last TrackResult; nil = none since the capture
	size   storeSize
}

// fileState identifies one state of a file that is replaced or appended to.
type fileState struct {
	size, mtime int64
	there       bool
}

// answer is the answer of a Track, with the line of its checkpoint, where id was the newest.
type answer struct {
	TrackResult
	line string
	id   object.ID
}

// storeSize is a measured size of the store, and the bytes that this Capturer has added since.
type storeSize struct {
	bytes int64
	at    time.Time // of the measure
}

// Forget drops the remembered capture. It is called when another process has held the lock since.
func (r *Capturer) Forget(l *history.Locked) {
	r.Holds(l)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last = lastCapture{}
}

// recall returns the stat cache for a capture, which changes it, and reports whether it is the one of
// the last capture. packs are the names of the packs, just listed. Until rememberLast nothing is remembered,
// so a capture that fails leaves nothing.
func (r *Capturer) recall(l *history.Locked, packs []string) (x *index.Index, aux auxiliary, remembered bool) {
	r.Holds(l)
	r.mu.Lock()
	last := r.last
	r.last = lastCapture{size: last.size}
	r.mu.Unlock()
	if r.counts(&last) && lackedBy(last.index, packs) == "" {
		return last.index, last.aux, true
	}
	r.Watch.distrust()
	x = r.loadIndex(l)
	return x, decodeAux(x.Aux), false
}

// rememberLast remembers the stat cache of a published capture.
func (r *Capturer) rememberLast(l *history.Locked, x *index.Index, aux auxiliary) {
	r.Holds(l)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last = lastCapture{index: x, files: r.indexState(), aux: aux, size: r.last.size}
}

// counts reports whether the files of the stat cache are as they were.
func (r *Capturer) counts(last *lastCapture) bool {
	return last.index != nil && last.files == r.indexState()
}

func (r *Capturer) indexState() (s [2]fileState) {
	f := r.IndexFile()
	for i, path := range []string{f.Base, f.Delta} {
		if info, err := os.Lstat(path); err == nil {
			s[i] = fileState{info.Size(), info.ModTime().UnixNano(), true}
		}
	}
	return s
}

// RenamePacks updates the packs that the stat cache names, so that replacing packs does not
// invalidate it.
func (r *Capturer) RenamePacks(l *history.Locked, gone, left []string) error {
	x, aux, _ := r.recall(l, r.DB.PackNames())
	if x.Root() == nil || lackedBy(x, slices.Concat(gone, left)) != "" {
		return nil // the next capture drops it
	}
	x.SetPrivate(left, x.Aux)
	if err := r.write(x); err != nil {
		return err
	}
	r.rememberLast(l, x, aux)
	return nil
}

// write saves the stat cache. A Repo that watches writes a new base when it is idle, see watchidle.go.
func (r *Capturer) write(x *index.Index) error {
	if r.Watch != nil {
		return x.Append(r.IndexFile())
	}
	return x.Save(r.IndexFile())
}

// lackedBy returns a pack that a stat cache names and packs lacks, "" if there is none.
func lackedBy(x *index.Index, packs []string) string {
	for _, name := range x.Packs {
		if !slices.Contains(packs, name) {
			return name
		}
	}
	return ""
}

// LastIndex returns the stat cache of the last capture, for a caller that does not change it.
func (r *Capturer) LastIndex(l *history.Locked) *index.Index {
	r.Holds(l)
	r.mu.Lock()
	last := r.last
	r.mu.Unlock()
	if r.counts(&last) && lackedBy(last.index, r.DB.PackNames()) == "" {
		return last.index.Clone()
	}
	return r.loadIndex(l)
}
