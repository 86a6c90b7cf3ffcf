package cairn

import (
	"context"
	"time"
)

// SetClock makes what is recorded and cleaned from now on count from another time.
func (r *Repo) SetClock(now func() time.Time) { r.now = now }

// SetClean puts something in the place of Clean.
func (r *Repo) SetClean(clean func(context.Context, CleanOptions) (*Cleaned, error)) { r.clean = clean }

// SetMinFree changes the option of an open Repo.
func (r *Repo) SetMinFree(bytes int64) { r.opt.MinFree = bytes }
