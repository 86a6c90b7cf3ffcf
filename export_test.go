package cairn

import "time"

// SetClock makes what is recorded and cleaned from now on count from another time.
func (r *Repo) SetClock(now func() time.Time) { r.now = now }
