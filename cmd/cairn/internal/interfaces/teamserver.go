package interfaces

import (
	"context"
	"log/slog"
	"path/filepath"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/internal/config"
	"github.com/seed-fb9cbc17/cairn/internal/httpapi"
	"github.com/seed-fb9cbc17/cairn/internal/listen"
	"github.com/seed-fb9cbc17/cairn/internal/sealed"
	"github.com/seed-fb9cbc17/cairn/internal/team"
	"github.com/seed-fb9cbc17/cairn/internal/transfer"
)

// checkRemote refuses what does not go with --remote, and makes the path of a remote absolute.
func (f *serveFlags) checkRemote(c *commands, dirs []string, refresh bool) (err error) {
	switch {
	case f.remote == "" && refresh:
		return c.Usage("has a use for --refresh only with --remote")
	case f.remote == "":
		return nil
	case len(dirs) > 0 || f.onDemand:
		return c.Usage("shows no directory of this machine with --remote")
	case f.listen == "" && !f.login:
		return c.Usage("needs --listen with --remote, as in --listen 127.0.0.1:8390")
	case f.refresh <= 0:
		return c.Usage("--refresh needs a time, as in 30s")
	}
	if transfer.IsLocal(f.remote) && !filepath.IsAbs(f.remote) {
		paths, err := c.Paths([]string{f.remote})
		if err != nil {
			return err
		}
		f.remote = paths[0]
	}
	return nil
}

// newServer makes the server with its page. end closes what it has opened.
func (c *commands) newServer(f serveFlags, dataDir string) (server *httpapi.Server, end func() error, err error) {
	if f.remote != "" {
		return c.teamServer(f, dataDir)
	}
	server = httpapi.New(c.serverOptions(dataDir))
	server.Mount(listen.Page(server, c.Console.Logger()))
	return server, server.Close, nil
}

// teamOptions are those of a team's caches. Of the user's settings the key of sealed lines counts.
func (c *commands) teamOptions(logger *slog.Logger) (cairn.Options, error) {
	opt := cairn.Options{Home: c.Home(), SystemGitConfig: cli.SystemGitConfig, Homes: cli.Homes, Command: "cairn serve", Logger: logger}
	cfg, err := config.Load(config.Sources{UserFile: c.UserFile(), Env: c.Env})
	if err == nil {
		opt.Identity, opt.Sealer = cfg.Identity, sealed.Age{}
	}
	return opt, err
}

// teamServer makes a server that shows a remote. dir is for its caches.
func (c *commands) teamServer(f serveFlags, dir string) (*httpapi.Server, func() error, error) {
	logger := c.Console.Logger()
	var server *httpapi.Server
	shown, err := team.New(team.Options{
		Remote: f.remote, Dir: dir, Every: f.refresh, Logger: logger,
		Settings: func() (cairn.Options, error) { return c.teamOptions(logger) },
		Register: func(root, key string) error { return server.RegisterAs(root, key) },
	})
	if err != nil {
		return nil, nil, err
	}
	server = httpapi.New(httpapi.Options{
		Build: cli.BuildName(), Logger: logger, CleanEvery: -1, ReadOnly: shown.ReadOnly(),
		Settings: func(root string) (cairn.Options, error) {
			return cairn.Options{
				Root: root, DataDir: shown.DataDir(), Disabled: shown.ReadOnly(),
				Command: "cairn serve", Logger: logger,
			}, nil
		},
		Refresh: func(ctx context.Context, key string) error {
			if key == "" {
				_, f := shown.List(ctx)
				if f.When.IsZero() {
					return f.Err
				}
				return nil
			}
			_, _, err := shown.Project(ctx, key)
			return err
		},
	})
	shown.RegisterKnown()
	server.Mount(listen.TeamPage(server, shown, logger))
	return server, func() error { shown.Close(); return server.Close() }, nil
}
