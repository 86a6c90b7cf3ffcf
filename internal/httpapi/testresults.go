package httpapi

import (
	"context"
	"net/http"

	"github.com/seed-fb9cbc17/cairn"
)

// testOperations tell results of tests. No request runs a command.
func (s *Server) testOperations() {
	onProject(s, endpoint{
		id: "list-tests", method: http.MethodGet, path: "/tests", tag: "past", summary: "The results of tests, the oldest first",
		description: "The newest checkpoint at which a command passed and none failed is @green, which stands wherever a hash does.",
	}, func(ctx context.Context, p *Project, _ *InProject) ([]cairn.TestResult, error) {
		list, err := p.Repo.TestResults(ctx)
		return append([]cairn.TestResult{}, list...), err
	})
}

// verdicts tells whether the tests of a checkpoint passed, nil without results. Checkpoints are there
// without results that cannot be read.
func (p *Project) verdicts(ctx context.Context) func(id string) *bool {
	all, err := p.Repo.TestResults(ctx)
	if err != nil {
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
