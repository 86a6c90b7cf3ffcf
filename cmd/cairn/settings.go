package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/config"
)

// projectFile is the configuration that lies in a root.
const projectFile = ".cairn.toml"

// settings are what people set for a root, flags left out.
func (c *cli) settings(root string) (*config.Config, error) {
	if c.config != nil && c.configured == root {
		return c.config, nil
	}
	cfg, err := config.Load(config.Sources{UserFile: c.userFile(), Project: root, ProjectFile: c.ownFile(root), Env: c.env})
	if err != nil {
		return nil, err
	}
	for _, d := range cfg.Refused() {
		c.console.complain(fmt.Sprintf("warning: %s = %s in %s is ignored: %s (cairn help config)", d.Key, printable(d.Value), placeText(d.Origin), d.Refused))
	}
	if broken := cfg.Broken(); broken != nil {
		c.console.complain("warning: " + brokenText(broken))
	}
	c.config, c.configured = cfg, root
	return cfg, nil
}

// brokenText says that a project's own file is not in force, and where it is wrong.
func brokenText(b *config.Broken) string {
	return fmt.Sprintf("%s is not in force, nor is a never list in it: %s; captures go on with your own settings",
		placeText(b.Path), strings.Join(messages(b.Err), "; "))
}

// userFile is the path of the user's configuration, "" if the home directory is not
// known.
func (c *cli) userFile() string {
	dir := c.env("XDG_CONFIG_HOME")
	if !filepath.IsAbs(dir) {
		if runtime.GOOS == "windows" {
			dir = c.env("AppData")
		} else if home := c.home(); home != "" {
			dir = filepath.Join(home, ".config")
		}
	}
	if !filepath.IsAbs(dir) {
		return ""
	}
	return filepath.Join(dir, "cairn", "config.toml")
}

// ownFile is the path of a root's own configuration, "" if the file is not there or
// cannot be trusted. A file under version control came with the repository: its author
// could switch limits and deny lists off.
func (c *cli) ownFile(root string) string {
	path := filepath.Join(root, projectFile)
	info, err := os.Lstat(path)
	if err != nil {
		return ""
	}
	why := ""
	if tracked, err := cairn.Tracked(root, projectFile); err != nil || tracked {
		why = "it is under version control"
	} else if !info.Mode().IsRegular() {
		why = "it is no regular file"
	}
	if why != "" {
		c.console.remark("%s is ignored: %s (settings for this project go to %s)", placeText(path), why, placeText(c.userFile()))
		return ""
	}
	return path
}

// configure puts settings into the library's terms.
func (c *cli) configure(opt *cairn.Options, cfg *config.Config) {
	keep := retentionOf(cfg)
	opt.Retention = &keep
	opt.MaxFileSize, opt.MaxFiles, opt.MaxScanBytes = cfg.MaxFileSize, cfg.MaxFiles, cfg.MaxScanBytes
	opt.Include, opt.MaxIncludeSize, opt.Never = cfg.Include, cfg.MaxIncludeSize, cfg.Never
	opt.RequireGit = cfg.RequireGit
	if opt.LockTimeout == 0 {
		opt.LockTimeout = max(0, cfg.LockTimeout)
	}
	if !cfg.Enabled {
		opt.Disabled = "enabled = false"
		for _, d := range cfg.Decisions() {
			if d.Key == "enabled" {
				opt.Disabled += " in " + d.Origin
			}
		}
	}
}

func retentionOf(cfg *config.Config) cairn.Retention {
	return cairn.Retention{MaxAge: cfg.MaxAge, MaxCount: cfg.MaxCount, MaxBytes: cfg.MaxBytes, MinFree: cfg.MinFree, KeepLast: cfg.KeepLast}
}

// settingLines describe what is not at its default.
func settingLines(cfg *config.Config) string {
	var b strings.Builder
	for i, d := range cfg.Decisions() {
		label := "            "
		if i == 0 {
			label = "settings    "
		}
		fmt.Fprintf(&b, "%s%s = %s (%s)\n", label, d.Key, printable(d.Value), placeText(d.Origin))
	}
	return b.String()
}

func isConfigError(err error) bool {
	var bad *config.Error
	return errors.As(err, &bad)
}
