package main

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/capture"
	"github.com/seed-fb9cbc17/cairn/internal/config"
	"github.com/seed-fb9cbc17/cairn/internal/pager"
	"github.com/seed-fb9cbc17/cairn/internal/realpath"
	"github.com/seed-fb9cbc17/cairn/internal/setup"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// systemGitConfig lists the configuration files that come before the user's own.
// Only core.excludesFile and core.ignoreCase are read from them.
var systemGitConfig = []string{"/etc/gitconfig"} // not there on Windows

// open finds root and store and opens them.
func (c *cli) open() (*cairn.Repo, error) {
	opt, err := c.options()
	if err != nil {
		return nil, err
	}
	return cairn.Open(opt)
}

// makesStore lists the commands that make a store where there is none.
var makesStore = []string{"track", "import", "fetch", "resume", "hook", "mcp", "run", "test", "fork", "best", "session begin"}

// takesOver lists the commands of makesStore that capture nothing.
var takesOver = []string{"import", "fetch"}

// homes are patterns of home directories, beside the user's own.
var homes = []string{"/root", "/home/*", "/Users/*", "/var/root", `C:\Users\*`}

// options makes the library's options from flags, environment and settings.
func (c *cli) options() (cairn.Options, error) {
	opt := cairn.Options{
		MustExist: !slices.Contains(makesStore, c.running), Command: "cairn " + c.running,
		Home: c.home(), SystemGitConfig: systemGitConfig, Homes: homes,
		Logger: c.console.Logger(), Progress: c.console.Progress(c.env("TERM") == "dumb" || pager.InAgent(c.lookup)),
	}
	if c.running == "push" {
		opt.Machine, opt.User = machineAndUser()
	}
	if dir := c.env("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		opt.ConfigHome = dir
	}
	dir, err := c.workDir()
	if err != nil {
		return opt, err
	}
	if opt.Root, err = c.rootDir(dir); err != nil {
		return opt, err
	}
	named := c.namedGit(opt.Root)
	opt.GitDir, opt.GitWorkTree = named.Dir, named.WorkTree
	c.tellAbove(opt.Root)
	cfg, err := c.settings(opt.Root)
	if err != nil {
		return opt, err
	}
	if opt.LockTimeout, err = c.lockTimeout(); err != nil {
		return opt, err
	}
	plain := opt
	c.configure(&opt, cfg)
	if opt.DataDir, err = c.dataDir(dir); err != nil {
		return opt, err
	}
	opt.ForRoot = func(root string) (cairn.Options, error) { return c.optionsBeside(plain, root) }
	if slices.Contains(takesOver, c.running) {
		opt.MaxFiles, opt.MaxScanBytes = cairn.NoLimit, cairn.NoLimit
	}
	c.last = &opt
	return opt, nil
}

// configure fills in what settings and flags say.
func (c *cli) configure(opt *cairn.Options, cfg *config.Config) {
	cfg.Configure(opt)
	opt.MaxFileSize = c.maxFileSize(cfg)
	if c.global.minFree.text != "" {
		opt.Retention.MinFree = limitOf(c.global.minFree)
	}
	opt.Force, opt.AgentFiles = c.force, setup.ProjectFiles
	if len(c.encrypt) > 0 {
		opt.Encrypt = c.encrypt
	}
	if c.identity != "" {
		opt.Identity = c.identity
	}
}

// optionsBeside returns the options for another root of a session, which has settings of its own.
func (c *cli) optionsBeside(opt cairn.Options, root string) (cairn.Options, error) {
	named := c.namedGit(root)
	opt.Root, opt.GitDir, opt.GitWorkTree = root, named.Dir, named.WorkTree
	cfg, err := config.Load(config.Sources{UserFile: c.userFile(), Project: root, ProjectFile: c.ownFile(root), Env: c.env})
	if err != nil {
		return opt, err
	}
	c.configure(&opt, cfg)
	return opt, nil
}

// found is the result of a look-up for a directory. A command asks several times, and
// the answer should be the same every time.
type found struct{ from, to string }

// resolve returns the result of f for a directory, from memory if the directory is the
// last one.
func (l *found) resolve(from string, f func(string) (string, error)) (string, error) {
	if l.to != "" && l.from == from {
		return l.to, nil
	}
	to, err := f(from)
	if err == nil {
		l.from, l.to = from, to
	}
	return to, err
}

// forgetPlace makes the next command look up its directories again.
func (c *cli) forgetPlace() { c.real, c.top = found{}, found{} }

// workDir is the directory from which relative paths count: the current one or -C's.
// Symlinks are resolved, because the root is a real path, too.
func (c *cli) workDir() (string, error) {
	dir := c.global.directory
	if !filepath.IsAbs(dir) {
		if c.dir == "" {
			return "", errors.New("the current directory is gone: name one with -C DIR")
		}
		dir = filepath.Join(c.dir, dir)
	}
	real, err := c.real.resolve(dir, realpath.Of)
	if err != nil {
		return "", fmt.Errorf("%w: %w", cairn.ErrRoot, err)
	}
	return real, nil
}

// rootDir is --root, else the work tree around dir that GIT_DIR or a .git names, else the nearest directory above with
// a store, else dir.
func (c *cli) rootDir(dir string) (string, error) {
	if c.global.root != "" {
		return absolute(dir, c.global.root), nil
	}
	return c.top.resolve(dir, func(dir string) (string, error) {
		if named := c.namedGit(dir); named.Dir != "" {
			return named.WorkTree, nil
		}
		data, err := c.dataDir(dir)
		if err != nil { // it is reported where a store is opened
			return cairn.FindRoot(dir)
		}
		root, err := cairn.FindRootIn(dir, data)
		if err != nil {
			return "", err
		}
		own, err := cairn.FindRoot(dir)
		c.above = own != root && len(root) < len(own) // a fork lies below
		return root, err
	})
}

// tellAbove says that a new capture belongs to a store of a directory above.
func (c *cli) tellAbove(root string) {
	if c.above && !c.toldAbove && slices.Contains(makesStore, c.running) {
		c.toldAbove = true
		c.console.Remark("this directory belongs to %s, which has a store (--root . makes one of its own)", placeText(root))
	}
}

// dataDir is where the stores lie.
func (c *cli) dataDir(dir string) (string, error) {
	if c.global.dataDir != "" {
		return absolute(dir, c.global.dataDir), nil
	}
	// A project's own file cannot name the data directory, so it is not read here.
	cfg, err := config.Load(config.Sources{UserFile: c.userFile(), Env: c.env})
	if err != nil {
		return "", err
	}
	if cfg.DataDir != "" {
		return cfg.DataDir, nil
	}
	return c.defaultDataDir()
}

// defaultDataDir is where stores lie if neither flag nor setting names a place.
func (c *cli) defaultDataDir() (string, error) {
	if data := c.env("XDG_DATA_HOME"); filepath.IsAbs(data) {
		return filepath.Join(data, "cairn"), nil
	}
	data, variable := c.systemDataDir(runtime.GOOS)
	if data == "" {
		return "", fmt.Errorf("%w: %s is not set: name a place for the store with --data-dir or CAIRN_DATA_DIR", cairn.ErrStore, variable)
	}
	return data, nil
}

// systemDataDir is the system's directory for data of a user, and the variable that
// names it.
func (c *cli) systemDataDir(goos string) (dir, variable string) {
	var base string
	var rest []string
	switch goos {
	case "windows":
		variable, rest = "LocalAppData", []string{"cairn"}
		base = c.env(variable)
	case "darwin":
		variable, rest = "HOME", []string{"Library", "Application Support", "cairn"}
		base = c.home()
	default:
		variable, rest = "HOME", []string{".local", "share", "cairn"}
		base = c.home()
	}
	if base == "" {
		return "", variable
	}
	return filepath.Join(append([]string{base}, rest...)...), variable
}

// home is the home directory, "" if it is not known.
func (c *cli) home() string {
	variable := "HOME"
	if runtime.GOOS == "windows" {
		variable = "USERPROFILE"
	}
	if home := c.env(variable); filepath.IsAbs(home) {
		return home
	}
	return ""
}

func absolute(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

func (c *cli) maxFileSize(cfg *config.Config) int64 {
	if c.global.maxFileSize.text == "" {
		return cfg.MaxFileSize
	}
	return limitOf(c.global.maxFileSize)
}

// paths turns PATH arguments, which count from the current directory, into absolute
// ones. An empty argument is refused: it is most likely an unset shell variable, and
// would mean the whole directory.
func (c *cli) paths(args []string) ([]string, error) {
	dir, err := c.workDir()
	if err != nil {
		return nil, err
	}
	paths := make([]string, len(args))
	for i, arg := range args {
		if arg == "" {
			return nil, c.usage("got an empty path (. means everything here)")
		}
		paths[i] = absolute(dir, arg)
	}
	return paths, nil
}

// lockTimeout is in the library's terms, where 0 means the default; on the command
// line it means one try.
func (c *cli) lockTimeout() (time.Duration, error) {
	switch flag := c.root.PersistentFlags().Lookup("lock-timeout"); {
	case !flag.Changed:
		return 0, nil
	case c.global.lockTimeout < 0:
		return 0, c.usage("cannot wait %v for a lock", c.global.lockTimeout)
	}
	return max(c.global.lockTimeout, time.Nanosecond), nil
}

// projectFile is the name of a root's own configuration.
const projectFile = ".cairn.toml"

// settings are the settings for a root, without the flags.
func (c *cli) settings(root string) (*config.Config, error) {
	if c.config != nil && c.configured == root {
		return c.config, nil
	}
	cfg, err := config.Load(config.Sources{UserFile: c.userFile(), Project: root, ProjectFile: c.ownFile(root), Env: c.env})
	if err != nil {
		return nil, err
	}
	for _, d := range cfg.Refused() {
		c.console.Complain(fmt.Sprintf("warning: %s = %s in %s is ignored: %s (cairn help config)", d.Key, wording.Printable(d.Value), placeText(d.Origin), d.Refused))
	}
	if broken := cfg.Broken(); broken != nil {
		c.console.Complain("warning: " + brokenText(broken))
	}
	c.config, c.configured = cfg, root
	return cfg, nil
}

// brokenText describes the errors of a project's own file, which is not in force.
func brokenText(b *config.Broken) string {
	return fmt.Sprintf("%s is not in force, nor is a never list in it: %s; captures go on with your own settings",
		placeText(b.Path), strings.Join(wording.Messages(b.Err), "; "))
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
	if tracked, err := capture.Tracked(root, projectFile, c.namedGit(root)); err != nil || tracked {
		why = "it is under version control"
	} else if !info.Mode().IsRegular() {
		why = "it is no regular file"
	}
	if why != "" {
		c.console.Remark("%s is ignored: %s (settings for this project go to %s)", placeText(path), why, placeText(c.userFile()))
		return ""
	}
	return path
}

// settingLines are the lines of the settings that differ from their defaults.
func settingLines(cfg *config.Config) string {
	var b strings.Builder
	for i, d := range cfg.Decisions() {
		label := "            "
		if i == 0 {
			label = "settings    "
		}
		fmt.Fprintf(&b, "%s%s = %s (%s)\n", label, d.Key, wording.Printable(d.Value), placeText(d.Origin))
	}
	return b.String()
}

func isConfigError(err error) bool {
	var bad *config.Error
	return errors.As(err, &bad)
}

// machineAndUser names both to other machines, "" where the system does not tell.
func machineAndUser() (machine, name string) {
	machine, _ = os.Hostname()
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	return machine, name
}
