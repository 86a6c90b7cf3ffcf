package mcptools

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/answers"
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
		fmt.Fprintf(&lines, "%s  %s  %s: %s\n", r.Checkpoint, r.When.Format(time.DateTime), answers.Verdict(r), oneLine(strings.Join(r.Command, " ")))
	}
	return out, listText(&lines, out.More, "no test was noted yet; cairn test -- COMMAND notes one"), nil
}
