package interfaces

import (
	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
)

// syncRoot starts a push in the background where the settings of a root want one.
func (c *commands) syncRoot(root, dataDir string) {
	there := *c.Program
	cfg, err := there.Settings(root)
	if err == nil && cfg.Sync != "" && there.MayBegin() {
		_ = c.Spawn(cli.SyncArgs(root, dataDir)) // the next call tries again
	}
}

// sealRoot starts to seal in the background, as at the end of a session.
func (c *commands) sealRoot(root, dataDir string) {
	there := *c.Program
	cfg, err := there.Settings(root)
	if err == nil && cfg.Seal && there.MayBegin() {
		_ = c.Spawn(cli.SealArgs(root, dataDir))
	}
}

// signRoot starts to sign in the background where the settings of a root name a key.
func (c *commands) signRoot(root, dataDir string) {
	there := *c.Program
	cfg, err := there.Settings(root)
	if err == nil {
		there.LastOptions = &cairn.Options{Root: root, DataDir: dataDir, Sign: cfg.Sign}
		there.SignLater()
	}
}
