package trial

import (
	"context"

	"github.com/seed-fb9cbc17/cairn"
)

// Note notes the result of a test that ran in the root, unless files of its checkpoint changed meanwhile:
// it is that of another state then. changed lists them.
func Note(ctx context.Context, repo *cairn.Repo, result cairn.TestResult) (changed []string, err error) {
	list, err := repo.Changes(ctx, result.Checkpoint, "")
	if err != nil {
		return nil, err
	}
	for i := range list {
		if list[i].Status != cairn.Added {
			changed = append(changed, list[i].Path)
		}
	}
	if len(changed) > 0 {
		return changed, nil
	}
	return nil, repo.NoteTest(ctx, result)
}
