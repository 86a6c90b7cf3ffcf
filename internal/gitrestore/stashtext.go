package gitrestore

import (
	"fmt"

	"github.com/seed-fb9cbc17/cairn/internal/gitstate"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// stashText describes how the list of stashes changes.
func stashText(now, want []Stash) string {
	had, gets := stashIDs(now), stashIDs(want)
	back, gone := gitstate.Missing(gets, had), gitstate.Missing(had, gets)
	switch {
	case back == 0 && gone == 0:
		return "put the list of stashes in order"
	case gone == 0:
		return "bring back " + wording.Count(back, "stash")
	case back > 0:
		return "bring back " + wording.Count(back, "stash") + " and drop " + wording.Count(gone, "stash")
	case len(want) == 0:
		return "drop " + wording.Count(gone, "stash")
	}
	return fmt.Sprintf("drop %d of %d stashes", gone, len(now))
}

func stashIDs(list []Stash) (ids []string) {
	for _, s := range list {
		ids = append(ids, s.ID)
	}
	return ids
}
