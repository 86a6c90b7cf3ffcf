package agents

import (
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/internal/known"
)

// TestAgentSettingsWithoutHome: without a home directory only the files of the project count, and none of the current
// directory.
func TestAgentSettingsWithoutHome(t *testing.T) {
	t.Parallel()
	c := &commands{cli.New(strings.NewReader(""), io.Discard, io.Discard, func(string) string { return "" }, t.TempDir())}
	for _, agent := range known.Names() {
		for _, file := range c.agentSettings(agent)(t.TempDir()) {
			if !filepath.IsAbs(file) {
				t.Errorf("%s: %s", agent, file)
			}
		}
	}
}
