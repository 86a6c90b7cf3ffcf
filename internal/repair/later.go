package repair

import (
	"bytes"
	"context"
	"maps"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/retention"
)

// later tells of checkpoints that a later release has made. They are no damage: only a newer cairn reads them.
// Commits that cannot be read are left to the other checks.
func (c *checker) later(ctx context.Context) error {
	s, err := retention.NewSurvey(ctx, c.repo.Store)
	if err != nil {
		return ctx.Err()
	}
	byID := func(a, b object.ID) int { return bytes.Compare(a[:], b[:]) }
	for _, id := range slices.SortedFunc(maps.Keys(s.Known), byID) {
		if err := ctx.Err(); err != nil {
			return err
		}
		kind, data, err := c.repo.DB.Read(id)
		if err != nil || kind != object.Commit {
			continue
		}
		commit, err := object.ParseCommit(data)
		if err != nil {
			continue
		}
		if err := history.CheckVersions(commit); err != nil {
			c.note(Fault{
				Kind: "later release", ID: id.String(), Text: "checkpoint " + id.String() + ": a later release of cairn made it",
				Repair: "use a newer cairn for it; the other checkpoints can be used",
			}, nil)
		}
	}
	return nil
}
