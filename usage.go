package cairn

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"time"
)

// Usage is what a store takes and holds.
type Usage struct {
	Root        string    `json:"root"`
	Store       string    `json:"store"`
	Size        int64     `json:"size"`   // bytes of all files
	Files       int       `json:"files"`  // in the store
	Budget      int64     `json:"budget"` // default of Retention.MaxBytes for this store
	Checkpoints int       `json:"checkpoints"`
	Lines       int       `json:"lines"`
	Pins        int       `json:"pins"`
	Oldest      time.Time `json:"oldest,omitzero"` // checkpoint
	Newest      time.Time `json:"newest,omitzero"`
	Cleaned     time.Time `json:"cleaned,omitzero"` // when it was last cleaned
}

// Usage measures the store. Checkpoints and lines count where they can be read.
func (r *Repo) Usage(ctx context.Context) (*Usage, error) {
	u := &Usage{Root: r.root, Store: r.db.Dir(), Budget: r.DefaultBudget()}
	if note := r.readNote(); note.Done {
		u.Cleaned = note.Time
	}
	var err error
	if u.Size, u.Files, err = diskUsage(u.Store); err != nil {
		return nil, err
	}
	s, err := r.survey(ctx)
	if err != nil {
		return nil, err
	}
	lines := make(map[string]bool)
	for _, unit := range s.newest(false) {
		lines[unit.line] = true
		u.Checkpoints += unit.commits
		for _, id := range unit.ids {
			when := s.known[id].when
			if u.Oldest.IsZero() || when.Before(u.Oldest) {
				u.Oldest = when
			}
			if when.After(u.Newest) {
				u.Newest = when
			}
		}
	}
	u.Lines = len(lines)
	pins, err := r.db.Refs(refPins)
	u.Pins = len(pins)
	return u, err
}

// diskUsage sums the sizes of the files below dir and counts them. Another process
// may be changing them, so one that vanishes counts nothing.
func diskUsage(dir string) (size int64, files int, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			var info fs.FileInfo
			if info, err = d.Info(); err == nil {
				size += info.Size()
				files++
			}
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	return size, files, err
}
