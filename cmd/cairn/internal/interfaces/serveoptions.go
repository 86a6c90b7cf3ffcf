package interfaces

import (
	"fmt"
	"log/slog"
	"path/filepath"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/internal/httpapi"
	"github.com/seed-fb9cbc17/cairn/internal/realpath"
)

// serverOptions gives the server, for each root, the settings of a command in that
// root.
func (c *commands) serverOptions(dataDir string) httpapi.Options {
	logger := c.Console.Logger()
	return httpapi.Options{
		Build: cli.BuildName(), Logger: logger,
		Settings: func(root string) (cairn.Options, error) { return c.optionsFor(root, dataDir, logger) },
		Guard:    c.guardRoot,
		Sync:     func(root string) { c.syncRoot(root, dataDir) },
		Sign:     func(root string) { c.signRoot(root, dataDir) },
		Seal:     func(root string) { c.sealRoot(root, dataDir) },
		Retention: func(root string) (cairn.Retention, bool, error) {
			there := *c.Program
			cfg, err := there.Settings(root)
			if err != nil {
				return cairn.Retention{}, false, err
			}
			return there.Retention(cfg), cfg.Background, nil
		},
	}
}

// guardRoot refuses roots that are most likely an accident.
func (c *commands) guardRoot(root string) error {
	home, err := realpath.Of(c.Home())
	if err == nil && realpath.Within(home, root) || root == filepath.Dir(root) {
		return fmt.Errorf("%s holds your whole home directory or file system", root)
	}
	return nil
}

// optionsFor returns the options of a track in a root.
func (c *commands) optionsFor(root, dataDir string, logger *slog.Logger) (cairn.Options, error) {
	there := *c.Program
	there.ForgetPlace() // a server lives long
	there.Running = "track"
	there.Global.Directory, there.Global.Root, there.Global.DataDir = root, root, dataDir
	opt, err := there.Options()
	opt.Command, opt.Logger, opt.Progress, opt.Watch = "cairn serve", logger, nil, true
	opt.Machine, opt.User = cli.MachineAndUser()
	opt.ForRoot = func(other string) (cairn.Options, error) { return c.optionsFor(other, dataDir, logger) }
	return opt, err
}
