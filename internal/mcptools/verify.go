package mcptools

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

func (t *tools) addVerify(s *mcp.Server) {
	add(s, &mcp.Tool{
		Name: "verify", Description: "Check that the history is whole and that its checkpoints are linked as they say. " +
			"gaps are what cairn itself cleaned, purged or repaired; findings are everything else.",
		Annotations: readOnly("Verify the history"),
	}, t.verify)
}

type verifyArgs struct {
	Since string `json:"since,omitempty" jsonschema:"only checkpoints that are not older than this time, as 2026-01-31T15:04:05Z"`
	After string `json:"after,omitempty" jsonschema:"only checkpoints that are neither this one, a hash, nor before it"`
}

type verified struct {
	cairn.VerifyReport
	Omitted int `json:"omitted" jsonschema:"lines, gaps and findings for which there was no room"`
}

func (t *tools) verify(ctx context.Context, args verifyArgs) (out verified, text string, err error) {
	opt := cairn.VerifyOptions{After: args.After}
	if args.Since != "" {
		if opt.Since, err = time.Parse(time.RFC3339, args.Since); err != nil {
			return out, "", fmt.Errorf("%w: %q is no time as 2026-01-31T15:04:05Z", errArguments, args.Since)
		}
	}
	report, err := t.repo.Verify(ctx, opt)
	if err != nil {
		return out, "", err
	}
	out.VerifyReport = *report
	out.Lines = some(&out.Omitted, out.Lines)
	out.Gaps = some(&out.Omitted, out.Gaps)
	out.Findings = some(&out.Omitted, out.Findings)
	var b strings.Builder
	fmt.Fprintf(&b, "%s in %s: %s\n", wording.Count(report.Checkpoints, "checkpoint"), wording.Count(len(report.Lines), "line"), wording.Count(len(report.Findings), "finding"))
	noted := func(what string) func(cairn.VerifyNote) string {
		return func(n cairn.VerifyNote) string { return what + ": " + oneLine(n.String()) }
	}
	lines(&b, out.Findings, noted("finding"))
	lines(&b, out.Gaps, noted("known gap"))
	return out, b.String(), nil
}
