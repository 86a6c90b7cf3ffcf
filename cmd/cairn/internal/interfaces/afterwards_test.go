package interfaces

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"filippo.io/age"

	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
)

// TestServerBeginsSigning: after what a server has recorded, a process that signs begins where the settings name a
// key, and a push where they name a remote. One that seals begins where the settings want that.
func TestServerBeginsSigning(t *testing.T) {
	t.Parallel()
	home, root := t.TempDir(), t.TempDir()
	id, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		env  map[string]string
		want []string
	}{
		{nil, nil},
		{map[string]string{"CAIRN_SIGN": filepath.Join(home, "key")}, []string{"verify --background"}},
		{map[string]string{"CAIRN_SYNC": filepath.Join(home, "away.git")}, []string{"push --background"}},
		{map[string]string{
			"CAIRN_SEAL": "true", "CAIRN_ENCRYPT": id.Recipient().String(), "CAIRN_IDENTITY": filepath.Join(home, "key"),
		}, []string{"seal --background"}},
		{map[string]string{"CAIRN_SIGN": filepath.Join(home, "key"), "CAIRN_NO_BACKGROUND": "1"}, nil},
	} {
		env := func(name string) string {
			if name == "HOME" || name == "USERPROFILE" {
				return home
			}
			return test.env[name]
		}
		c := &commands{cli.New(strings.NewReader(""), io.Discard, io.Discard, env, root)}
		var begun []string
		c.Spawn = func(args []string) error {
			begun = append(begun, strings.Join(args[:2], " "))
			if !slices.Contains(args, root) {
				t.Errorf("%q is not about %s", args, root)
			}
			return nil
		}
		opt := c.serverOptions(t.TempDir())
		opt.Sign(root)
		opt.Sync(root)
		opt.Seal(root)
		if fmt.Sprint(begun) != fmt.Sprint(test.want) {
			t.Errorf("%v: begun %q, want %q", test.env, begun, test.want)
		}
	}
}
