package interfaces

import (
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// TestTeamOptions: a team's page opens sealed lines with the key that the user's settings name.
func TestTeamOptions(t *testing.T) {
	t.Parallel()
	home, key := t.TempDir(), filepath.Join(t.TempDir(), "key")
	gittest.Create(t, home, gittest.Tree{".config/cairn/config.toml": gittest.File("identity = '" + key + "'\n")})
	env := func(name string) string { return map[string]string{"HOME": home, "USERPROFILE": home}[name] }
	c := &commands{cli.New(strings.NewReader(""), io.Discard, io.Discard, env, home)}
	if opt, err := c.teamOptions(nil); err != nil || opt.Identity != key {
		t.Errorf("identity %q, %v", opt.Identity, err)
	}
}
