package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/config"
	"github.com/seed-fb9cbc17/cairn/internal/realpath"
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
var makesStore = []string{"track", "import", "fetch", "hook", "mcp", "run", "session begin"}

// takesOver lists those of them that capture nothing.
var takesOver = []string{"import", "fetch"}

// homes are the places of home directories, beside the user's own.
var homes = []string{"/root", "/home/*", "/Users/*", "/var/root", `C:\Users\*`}

// options gathers from flags and environment what the library does not know.
func (c *cli) options() (cairn.Options, error) {
	opt := cairn.Options{
		MustExist: !slices.Contains(makesStore, c.running), Command: "cairn " + c.running,
		Home: c.home(), SystemGitConfig: systemGitConfig, Homes: homes,
		Logger: c.console.logger(), Progress: c.console.progressFunc(c.env),
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
	c.tellAbove(opt.Root)
	cfg, err := c.settings(opt.Root)
	if err != nil {
		return opt, err
	}
	if opt.LockTimeout, err = c.lockTimeout(); err != nil {
		return opt, err
	}
	c.configure(&opt, cfg)
	if opt.DataDir, err = c.dataDir(dir); err != nil {
		return opt, err
	}
	opt.MaxFileSize = c.maxFileSize(cfg)
	if c.global.minFree.text != "" {
		opt.MinFree = limitOf(c.global.minFree)
	}
	opt.Force = c.force
	if slices.Contains(takesOver, c.running) {
		opt.MaxFiles, opt.MaxScanBytes = cairn.NoLimit, cairn.NoLimit
	}
	c.last = &opt
	return opt, nil
}

// found is where a directory leads, looked up once: a command asks for it several
// times, and it should be the same every time.
type found struct{ from, to string }

// look returns what f gives for a directory, from memory if it was asked for last.
func (l *found) look(from string, f func(string) (string, error)) (string, error) {
	if l.to != "" && l.from == from {
		return l.to, nil
	}
	to, err := f(from)
	if err == nil {
		l.from, l.to = from, to
	}
	return to, err
}

// workDir is the directory that everything relative counts from: the current one
// or -C's, with symlinks resolved, because the root is a real path, too.
func (c *cli) workDir() (string, error) {
	dir := c.global.directory
	if !filepath.IsAbs(dir) {
		if c.dir == "" {
			return "", errors.New("the current directory is gone: name one with -C DIR")
		}
		dir = filepath.Join(c.dir, dir)
	}
	real, err := c.real.look(dir, realpath.Of)
	if err != nil {
		return "", fmt.Errorf("%w: %w", cairn.ErrRoot, err)
	}
	return real, nil
}

// rootDir is --root, or the work tree around dir, or the nearest directory above that has
// a store, or dir.
func (c *cli) rootDir(dir string) (string, error) {
	if c.global.root != "" {
		return absolute(dir, c.global.root), nil
	}
	return c.top.look(dir, func(dir string) (string, error) {
		data, err := c.dataDir(dir)
		if err != nil { // it is reported where a store is opened
			return cairn.FindRoot(dir)
		}
		root, err := cairn.FindRootIn(dir, data)
		if err != nil {
			return "", err
		}
		own, err := cairn.FindRoot(dir)
		c.above = own != root
		return root, err
	})
}

// tellAbove says that a new capture belongs to a store of a directory above.
func (c *cli) tellAbove(root string) {
	if c.above && !c.toldAbove && slices.Contains(makesStore, c.running) {
		c.toldAbove = true
		c.console.remark("this directory belongs to %s, which has a store (--root . makes one of its own)", placeText(root))
	}
}

// holds reports whether path is dir or lies below it.
func holds(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// dataDir is where the stores lie.
func (c *cli) dataDir(dir string) (string, error) {
	if c.global.dataDir != "" {
		return absolute(dir, c.global.dataDir), nil
	}
	// A project's own file cannot name the data directory, and does not have to be sound.
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

// systemDataDir is the system's place for data of a user, and the variable that
// tells it.
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

// byteSize is a number of bytes as a flag; "" means not given.
type byteSize struct {
	text  string
	bytes int64
}

func (s *byteSize) String() string { return s.text }
func (s *byteSize) Type() string   { return "size" }

// Set implements pflag.Value.
func (s *byteSize) Set(text string) error {
	digits, shift := text, 0
	if n := len(text); n > 0 {
		if i := strings.IndexByte("KMG", text[n-1]&^0x20); i >= 0 {
			digits, shift = text[:n-1], 10*(i+1)
		}
	}
	n, err := strconv.ParseUint(digits, 10, 63-shift)
	if err != nil {
		return errors.New("want a number of bytes, or one of K, M or G as in 64M; 0 means no limit")
	}
	s.text, s.bytes = text, int64(n)<<shift
	return nil
}

func (c *cli) maxFileSize(cfg *config.Config) int64 {
	if c.global.maxFileSize.text == "" {
		return cfg.MaxFileSize
	}
	return limitOf(c.global.maxFileSize)
}

// limitOf is a size in the library's terms, where 0 means the default.
func limitOf(size byteSize) int64 {
	if size.bytes == 0 {
		return cairn.NoLimit
	}
	return size.bytes
}

// paths turns PATH arguments, which count from the current directory, into absolute
// ones. An empty one is most likely a shell variable that is not set, and would mean
// everything.
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
