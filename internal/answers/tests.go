package answers

import (
	"context"
	"fmt"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/access"
)

// Verdict says for people how a test ended.
func Verdict(t *cairn.TestResult) string {
	switch {
	case t.Passed():
		return "passed"
	case t.Skipped():
		return "cannot be tested"
	}
	return fmt.Sprintf("failed with status %d", t.Status)
}

// Verdicts tells whether the tests of a checkpoint passed, nil without results. Checkpoints are there
// without results that cannot be read; a warning tells of these.
func Verdicts(ctx context.Context, repo *cairn.Repo) func(id string) *bool {
	all, err := repo.TestResults(ctx)
	if err != nil {
		access.Logger(repo).Warn("results of tests left out", "error", err)
		all = nil
	}
	verdicts := cairn.TestVerdicts(all)
	return func(id string) *bool {
		if passed, ok := verdicts[id]; ok {
			return &passed
		}
		return nil
	}
}
