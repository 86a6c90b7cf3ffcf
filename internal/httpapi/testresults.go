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
