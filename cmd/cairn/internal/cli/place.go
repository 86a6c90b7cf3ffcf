package cli

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/config"
	"github.com/seed-fb9cbc17/cairn/internal/pager"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
	"github.com/seed-fb9cbc17/cairn/internal/realpath"
	"github.com/seed-fb9cbc17/cairn/internal/settings"
)

// Stores lists the stores in the data directory that is in force here.
func (c *Program) Stores() ([]cairn.StoreInfo, error) {
	dataDir, err := c.UsersDataDir()
	if err != nil {
		return nil, err
	}
	return cairn.Stores(dataDir)
}

// UsersDataDir is the data directory of a command that is about no root.
func (c *Program) UsersDataDir() (string, error) {
	dir, err := c.WorkDir()
	if err != nil {
		return "", err
	}
	return c.DataDir(dir)
}

// OtherDir opens the repository of another directory, with the settings of that one.
func (c *Program) OtherDir(dir string) (cairn.MergeSource, error) {
	opt := *c.LastOptions
	root, err := cairn.FindRootIn(dir, opt.DataDir)
	if err != nil {
		return cairn.MergeSource{}, err
	}
	cfg, err := c.Settings(root)
	if err != nil {
		return cairn.MergeSource{}, err
	}
	named := c.namedGit(root)
	opt.Root, opt.GitDir, opt.GitWorkTree, opt.Disabled = root, named.Dir, named.WorkTree, ""
	cfg.Configure(&opt)
	opt.MaxFileSize, opt.MustExist = c.maxFileSize(cfg), true
	repo, err := cairn.Open(opt)
	return cairn.MergeSource{Repo: repo}, err
}

// SystemGitConfig lists the configuration files that come before the user's own.
// Only core.excludesFile and core.ignoreCase are read from them.
var SystemGitConfig = []string{"/etc/gitconfig"} // not there on Windows

// Open finds root and store and opens them.
func (c *Program) Open() (*cairn.Repo, error) {
	opt, err := c.Options()
	if err != nil {
		return nil, err
	}
	return cairn.Open(opt)
}

// makesStore lists the commands that make a store where there is none.
var makesStore = []string{"track", "import", "fetch", "resume", "hook", "mcp", "run", "test", "fork", "best", "session begin"}

// mayPush lists the commands that may write a note on a remote, which names the machine and its user.
var mayPush = []string{"push", "gc", "mcp", "seal"}

// takesOver lists the commands of makesStore that capture nothing.
var takesOver = []string{"import", "fetch"}

// Homes are patterns of home directories, beside the user's own.
var Homes = []string{"/root", "/home/*", "/Users/*", "/var/root", `C:\Users\*`}

// Options makes the library's options from flags, environment and settings.
func (c *Program) Options() (cairn.Options, error) {
	opt := cairn.Options{
		MustExist: !slices.Contains(makesStore, c.Running), Command: "cairn " + c.Running,
		Home: c.Home(), SystemGitConfig: SystemGitConfig, Homes: Homes,
		Logger: c.Console.Logger(), Progress: c.Console.Progress(c.Env("TERM") == "dumb" || pager.InAgent(c.Lookup)),
	}
	if slices.Contains(mayPush, c.Running) {
		opt.Machine, opt.User = MachineAndUser()
	}
	if dir := c.Env("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		opt.ConfigHome = dir
	}
	dir, err := c.WorkDir()
	if err != nil {
		return opt, err
	}
	if opt.Root, err = c.RootDir(dir); err != nil {
		return opt, err
	}
	named := c.namedGit(opt.Root)
	opt.GitDir, opt.GitWorkTree = named.Dir, named.WorkTree
	c.tellAbove(opt.Root)
	cfg, err := c.Settings(opt.Root)
	if err != nil {
		return opt, err
	}
	if opt.LockTimeout, err = c.lockTimeout(); err != nil {
		return opt, err
	}
	settings.OnUnseal(&opt, c.sealed.add)
	plain := opt
	c.configure(&opt, cfg)
	if opt.DataDir, err = c.DataDir(dir); err != nil {
		return opt, err
	}
	opt.ForRoot = func(root string) (cairn.Options, error) { return c.optionsBeside(plain, root) }
	if slices.Contains(takesOver, c.Running) {
		opt.MaxFiles, opt.MaxScanBytes = cairn.NoLimit, cairn.NoLimit
	}
	c.LastOptions = &opt
	c.takeAlong(opt)
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

// ForgetPlace makes the next command look up its directories again.
func (c *Program) ForgetPlace() { c.real, c.top = found{}, found{} }

// wantPlaces refuses an empty directory, as of a variable that is not set: the command would work on another one.
func (c *Program) wantPlaces(cmd *cobra.Command) error {
	if name := givenEmpty(cmd, []string{"root", dataDirFlag}); name != "" {
		return c.Usage("got an empty --%s: name a directory, or leave the option out", name)
	}
	return nil
}

// WorkDir is the directory from which relative paths count: the current one or -C's.
// Symlinks are resolved, because the root is a real path, too.
func (c *Program) WorkDir() (string, error) {
	dir := c.Global.Directory
	if !filepath.IsAbs(dir) {
		if c.Dir == "" {
			return "", errors.New("the current directory is gone: name one with -C DIR")
		}
		dir = filepath.Join(c.Dir, dir)
	}
	real, err := c.real.resolve(dir, realpath.Of)
	if err != nil {
		return "", fmt.Errorf("%w: %w", cairn.ErrRoot, err)
	}
	return real, nil
}

// RootDir is --root, else the work tree around dir that GIT_DIR or a .git names, else the nearest directory above with
// a store, else dir.
func (c *Program) RootDir(dir string) (string, error) {
	if c.Global.Root != "" {
		return AbsolutePath(dir, c.Global.Root), nil
	}
	return c.top.resolve(dir, func(dir string) (string, error) {
		if named := c.namedGit(dir); named.Dir != "" {
			return named.WorkTree, nil
		}
		data, err := c.DataDir(dir)
		if err != nil { // it is reported where a store is opened
			return cairn.FindRoot(dir)
		}
		root, err := cairn.FindRootIn(dir, data)
		if err != nil {
			return "", err
		}
		own, err := cairn.FindRoot(dir)
		c.RootAbove = own != root && len(root) < len(own) // a fork lies below
		return root, err
	})
}

// tellAbove says that a new capture belongs to a store of a directory above.
func (c *Program) tellAbove(root string) {
	if c.RootAbove && !c.toldAbove && slices.Contains(makesStore, c.Running) {
		c.toldAbove = true
		c.Console.Remark("this directory belongs to %s, which has a store (--root . makes one of its own)", pathtext.Place(root))
	}
}

// DataDir is where the stores lie.
func (c *Program) DataDir(dir string) (string, error) {
	if c.Global.DataDir != "" {
		return AbsolutePath(dir, c.Global.DataDir), nil
	}
	// A project's own file cannot name the data directory, so it is not read here.
	cfg, err := config.Load(config.Sources{UserFile: c.UserFile(), Env: c.Env})
	if err != nil {
		return "", err
	}
	if cfg.DataDir != "" {
		return cfg.DataDir, nil
	}
	return c.DefaultDataDir()
}

// DefaultDataDir is where stores lie if neither flag nor setting names a place.
func (c *Program) DefaultDataDir() (string, error) {
	if data := c.Env("XDG_DATA_HOME"); filepath.IsAbs(data) {
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
func (c *Program) systemDataDir(goos string) (dir, variable string) {
	var base string
	var rest []string
	switch goos {
	case "windows":
		variable, rest = "LocalAppData", []string{"cairn"}
		base = c.Env(variable)
	case "darwin":
		variable, rest = "HOME", []string{"Library", "Application Support", "cairn"}
		base = c.Home()
	default:
		variable, rest = "HOME", []string{".local", "share", "cairn"}
		base = c.Home()
	}
	if base == "" {
		return "", variable
	}
	return filepath.Join(append([]string{base}, rest...)...), variable
}

// Home is the home directory, "" if it is not known.
func (c *Program) Home() string {
	variable := "HOME"
	if runtime.GOOS == "windows" {
		variable = "USERPROFILE"
	}
	if home := c.Env(variable); filepath.IsAbs(home) {
		return home
	}
	return ""
}

// AbsolutePath is a path that counts from dir.
func AbsolutePath(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// Paths turns PATH arguments, which count from the current directory, into absolute
// ones. An empty argument is refused: it is most likely an unset shell variable, and
// would mean the whole directory.
func (c *Program) Paths(args []string) ([]string, error) {
	dir, err := c.WorkDir()
	if err != nil {
		return nil, err
	}
	paths := make([]string, len(args))
	for i, arg := range args {
		if arg == "" {
			return nil, c.Usage("got an empty path (. means everything here)")
		}
		paths[i] = AbsolutePath(dir, arg)
	}
	return paths, nil
}

// lockTimeout is in the library's terms, where 0 means the default; on the command
// line it means one try.
func (c *Program) lockTimeout() (time.Duration, error) {
	switch flag := c.Root.PersistentFlags().Lookup("lock-timeout"); {
	case !flag.Changed:
		return 0, nil
	case c.Global.LockTimeout < 0:
		return 0, c.Usage("cannot wait %v for a lock", c.Global.LockTimeout)
	}
	return max(c.Global.LockTimeout, time.Nanosecond), nil
}

// MachineAndUser names both to other machines, "" where the system does not tell.
func MachineAndUser() (machine, name string) {
	machine, _ = os.Hostname()
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	return machine, name
}
