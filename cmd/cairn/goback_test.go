package main

import (
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/goback"
)

// TestPlanLine: the command line of a dry run, with the plan in the place of the
// dry run, wherever the options stood.
func TestPlanLine(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ args, want string }{
		{"restore --dry-run @", "cairn restore --plan 0123 @"},
		{"-C d restore @~1 a --dry-run=true -q --keep-new=false", "cairn restore --directory=d --keep-new=false --quiet --plan 0123 @~1 a"},
		{"revert @ --dry-run --on-conflict merge --plan 4567 -- -x", "cairn revert --on-conflict=merge --plan 0123 -- @ -x"},
		{"undo --dry-run --max-file-size 5M --lock-timeout 2s", "cairn undo --lock-timeout=2s --max-file-size=5M --plan 0123"},
	} {
		c := testCLI()
		cmd, rest, err := c.Root.Find(strings.Fields(test.args))
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.ParseFlags(rest); err != nil {
			t.Fatal(err)
		}
		if got := goback.PlanLine(cmd, "0123"); got != test.want {
			t.Errorf("%s: %s, want %s", test.args, got, test.want)
		}
	}
}

// TestTerminalsAreRefused: a bundle is not for people.
func TestTerminalsAreRefused(t *testing.T) {
	t.Parallel()
	var stderr strings.Builder
	c := newProgram(strings.NewReader(""), new(strings.Builder), &stderr, homeOnly(t.TempDir()), t.TempDir())
	c.OutTerminal = true
	if status := c.Run(t.Context(), []string{"export", "@~1"}); status != cli.ExitUsage || !strings.Contains(stderr.String(), "as in cairn export @~1 > FILE") {
		t.Errorf("status %d: %s", status, stderr.String())
	}
}
