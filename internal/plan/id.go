package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// ID identifies the changes of a plan and the states that it found on disk: the first 16 hex
// digits of a hash over both. Times do not count, so a file that was only touched does not make
// it another plan.
func (p *Plan) ID(kind, target, undoes string) string {
	lines := make([]string, 0, len(p.Changes))
	for _, c := range p.Changes {
		line := fmt.Sprintf("%q %s %v %o %s", c.Path, c.Action, c.Mode, c.Perm, c.ID)
		if c.Was != nil {
			line += fmt.Sprintf(" was %v %o %s", c.Was.Mode, c.Was.Perm, c.Was.ID)
			if c.Was.ID.IsZero() {
				line += fmt.Sprint(" of ", c.Was.Stat.Size)
			}
		}
		lines = append(lines, line)
	}
	for _, list := range [][]state.PathReason{p.Kept, p.Conflicts} {
		for _, c := range list {
			lines = append(lines, fmt.Sprintf("%q stays: %s", c.Path, c.Reason))
		}
	}
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(kind + " " + target + " " + undoes + "\n" + strings.Join(lines, "\n")))
	return hex.EncodeToString(sum[:8])
}
