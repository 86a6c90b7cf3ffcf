package mcptools

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed-fb9cbc17/cairn"
)

func (t *tools) addTests(s *mcp.Server) {
	add(s, &mcp.Tool{
		Name: "tests", Description: "List the results of tests, the newest first: of cairn test, and of each state that cairn bisect tried. " +
			"The newest checkpoint at which a command passed and none failed is @green, which stands wherever a hash does.",
		Annotations: readOnly("List test results"),
	}, t.tests)
}

type testList struct {
	Tests []cairn.TestResult `json:"tests"`
	More  bool               `json:"more" jsonschema:"there are older ones"`
}

func (t *tools) tests(ctx context.Context, args listArgs) (out testList, text string, err error) {
	limit, err := args.limit()
	if err != nil {
		return out, "", err
	}
	all, err := t.repo.TestResults(ctx)
	if err != nil {
		return out, "", err
	}
	slices.Reverse(all)
	out.Tests, out.More = append([]cairn.TestResult{}, all[:min(limit, len(all))]...), len(all) > limit
	var lines strings.Builder
	for i := range out.Tests {
		r := &out.Tests[i]
		fmt.Fprintf(&lines, "%s  %s  %s: %s\n", r.Checkpoint, r.When.Format(time.DateTime), verdict(r), oneLine(strings.Join(r.Command, " ")))
	}
	return out, listText(&lines, out.More, "no test was noted yet; cairn test -- COMMAND notes one"), nil
}

// verdict says how a test ended.
func verdict(r *cairn.TestResult) string {
	switch {
	case r.Passed():
		return "passed"
	case r.Skipped():
		return "cannot be tested"
	}
	return fmt.Sprintf("failed with status %d", r.Status)
}

// verdicts tells whether the tests of a checkpoint passed, nil without results. Checkpoints are there
// without results that cannot be read.
func (t *tools) verdicts(ctx context.Context) func(id string) *bool {
	all, err := t.repo.TestResults(ctx)
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
