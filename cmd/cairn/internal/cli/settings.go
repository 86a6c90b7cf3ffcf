package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/capture"
	"github.com/seed-fb9cbc17/cairn/internal/config"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
	"github.com/seed-fb9cbc17/cairn/internal/setup"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// limitOf is a size in the library's terms, where 0 means the default.
func limitOf(size byteSize) int64 {
	if size.bytes == 0 {
		return cairn.NoLimit
	}
	return size.bytes
}

// configure fills in what settings and flags say.
func (c *Program) configure(opt *cairn.Options, cfg *config.Config) {
	cfg.Configure(opt)
	retention := c.Retention(cfg)
	opt.Retention = &retention
	opt.Unseal = opt.Unseal && !c.LeaveSealed
	opt.MaxFileSize = c.maxFileSize(cfg)
	opt.Force, opt.AgentFiles = c.Force, setup.ProjectFiles
	if len(c.Encrypt) > 0 {
		opt.Encrypt = c.Encrypt
	}
	if c.Identity != "" {
		opt.Identity = c.Identity
	}
}

// Retention is what settings and flags let a cleaning keep.
func (c *Program) Retention(cfg *config.Config) cairn.Retention {
	retention := cfg.Retention()
	if c.Global.MinFree.text != "" {
		retention.MinFree = limitOf(c.Global.MinFree)
	}
	return retention
}

// optionsBeside returns the options for another root of a session, which has settings of its own.
func (c *Program) optionsBeside(opt cairn.Options, root string) (cairn.Options, error) {
	named := c.namedGit(root)
	opt.Root, opt.GitDir, opt.GitWorkTree = root, named.Dir, named.WorkTree
	cfg, err := config.Load(config.Sources{UserFile: c.UserFile(), Project: root, ProjectFile: c.ownFile(root), Env: c.Env})
	if err != nil {
		return opt, err
	}
	c.configure(&opt, cfg)
	if c.LastOptions != nil {
		opt.DataDir = c.LastOptions.DataDir
	}
	return opt, nil
}

func (c *Program) maxFileSize(cfg *config.Config) int64 {
	if c.Global.MaxFileSize.text == "" {
		return cfg.MaxFileSize
	}
	return limitOf(c.Global.MaxFileSize)
}

// projectFile is the name of a root's own configuration.
const projectFile = ".cairn.toml"

// Settings are the settings for a root, without the flags. Their decisions name the flags, too.
func (c *Program) Settings(root string) (*config.Config, error) {
	if c.Config != nil && c.configured == root {
		return c.Config, nil
	}
	cfg, err := config.Load(config.Sources{UserFile: c.UserFile(), Project: root, ProjectFile: c.ownFile(root), Env: c.Env})
	if err != nil {
		return nil, err
	}
	for _, d := range cfg.Refused() {
		c.Console.Complain(fmt.Sprintf("warning: %s = %s in %s is ignored: %s (cairn help config)", d.Key, wording.Printable(d.Value), pathtext.Place(d.Origin), d.Refused))
	}
	if broken := cfg.Broken(); broken != nil {
		c.Console.Complain("warning: " + BrokenText(broken))
	}
	c.decideByFlags(cfg)
	c.Config, c.configured = cfg, root
	return cfg, nil
}

// decideByFlags notes the settings that flags of the command line decide.
func (c *Program) decideByFlags(cfg *config.Config) {
	if c.Root == nil { // no command line: the settings of another root than that of the command
		return
	}
	flags := c.Root.PersistentFlags()
	for name, key := range settingFlags {
		f := flags.Lookup(name)
		if !f.Changed {
			continue
		}
		value := f.Value.String()
		if name == dataDirFlag {
			if dir, err := c.WorkDir(); err == nil {
				value = AbsolutePath(dir, value)
			}
		}
		cfg.Decide(key, value, "--"+name)
	}
}

const dataDirFlag = "data-dir"

// settingFlags are the flags of all commands that decide a setting.
var settingFlags = map[string]string{
	dataDirFlag: "data_dir", "max-file-size": "max_file_size", "min-free": "min_free_bytes", "lock-timeout": "lock_timeout",
}

// BrokenText describes the errors of a project's own file, which is not in force.
func BrokenText(b *config.Broken) string {
	return fmt.Sprintf("%s is not in force, nor is a never list in it: %s; captures go on with your own settings",
		pathtext.Place(b.Path), strings.Join(wording.Messages(b.Err), "; "))
}

// UserFile is the path of the user's configuration, "" if the home directory is not
// known.
func (c *Program) UserFile() string {
	dir := c.Env("XDG_CONFIG_HOME")
	if !filepath.IsAbs(dir) {
		if runtime.GOOS == "windows" {
			dir = c.Env("AppData")
		} else if home := c.Home(); home != "" {
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
func (c *Program) ownFile(root string) string {
	path := filepath.Join(root, projectFile)
	info, err := os.Lstat(path)
	if err != nil {
		return ""
	}
	why := ""
	if tracked, err := capture.Tracked(root, projectFile, c.namedGit(root)); err != nil || tracked {
		why = "it is under version control"
	} else if !info.Mode().IsRegular() {
		why = "it is no regular file"
	}
	if why != "" {
		c.Console.Remark("%s is ignored: %s (settings for this project go to %s)", pathtext.Place(path), why, pathtext.Place(c.UserFile()))
		return ""
	}
	return path
}

// SettingLines are the lines of the settings that differ from their defaults.
func SettingLines(cfg *config.Config) string {
	var b strings.Builder
	for i, d := range cfg.Decisions() {
		label := "            "
		if i == 0 {
			label = "settings    "
		}
		fmt.Fprintf(&b, "%s%s = %s (%s)\n", label, d.Key, wording.Printable(d.Value), pathtext.Place(d.Origin))
	}
	return b.String()
}

// IsConfigError reports whether a setting cannot be read.
func IsConfigError(err error) bool {
	var bad *config.Error
	return errors.As(err, &bad)
}
