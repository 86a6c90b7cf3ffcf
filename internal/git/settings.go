package git

import (
	"errors"
	"path/filepath"
)

// UserConfig locates the user's own git configuration. The caller takes it from the environment;
// this package does not read it. The zero value names nothing, so only the repository's own
// configuration is read.
type UserConfig struct {
	Home       string   // holds .gitconfig; the value of "~"
	ConfigHome string   // holds git/config and git/ignore; "" means Home/.config
	System     []string // files of the whole machine, such as /etc/gitconfig
}

func (u UserConfig) configHome() string {
	if u.ConfigHome == "" && u.Home != "" {
		return filepath.Join(u.Home, ".config")
	}
	return u.ConfigHome
}

// files lists the user's configuration files, the weakest first.
func (u UserConfig) files() []string {
	list := append([]string(nil), u.System...)
	if dir := u.configHome(); dir != "" {
		list = append(list, filepath.Join(dir, "git", "config"))
	}
	if u.Home != "" {
		list = append(list, filepath.Join(u.Home, ".gitconfig"))
	}
	return list
}

// IgnoreSettings are the settings about ignored files.
type IgnoreSettings struct {
	ExcludesFile string // core.excludesFile or its default; "" for none
	InfoExclude  string // the repository's info/exclude; "" outside of a repository
	IgnoreCase   bool   // core.ignoreCase
}

// IgnoreSettings reads the settings that apply in this work tree. The files that they name need not
// exist. An unreadable or malformed configuration is an error for a warning: the settings hold the
// part that could be read.
func (r *Repo) IgnoreSettings(u UserConfig) (IgnoreSettings, error) {
	s, err := readIgnore(u, r, r.configFiles(u), r.Top)
	s.InfoExclude = filepath.Join(r.CommonDir, "info", "exclude")
	return s, err
}

// configFiles lists the configuration files that apply in this work tree, the
// weakest first.
func (r *Repo) configFiles(u UserConfig) []string {
	list := append(u.files(), filepath.Join(r.CommonDir, "config"))
	if readFormat(dirs{r.GitDir, r.CommonDir}).worktreeConfig {
		list = append(list, filepath.Join(r.GitDir, "config.worktree"))
	}
	return list
}

// UserIgnoreSettings is [Repo.IgnoreSettings] for a directory without a
// repository: what the user's own configuration says. Relative paths are relative
// to root.
func UserIgnoreSettings(u UserConfig, root string) (IgnoreSettings, error) {
	return readIgnore(u, nil, u.files(), root)
}

// SafeDirectories returns the values of safe.directory, in their order. Git takes them from the configuration of the
// user and of the machine alone. An error is one for a warning, as of [Repo.IgnoreSettings].
func SafeDirectories(u UserConfig) (dirs []string, err error) {
	r := &configReader{home: u.Home, sources: u.files()}
	r.visit = func(set setting) error {
		if set.name == "safe.directory" {
			dirs = append(dirs, set.value)
		}
		return nil
	}
	r.readAll()
	return dirs, errors.Join(r.errs...)
}

// readIgnore reads sources. The last usable setting of a variable wins.
func readIgnore(u UserConfig, repo *Repo, sources []string, root string) (IgnoreSettings, error) {
	var s IgnoreSettings
	if dir := u.configHome(); dir != "" {
		s.ExcludesFile = filepath.Join(dir, "git", "ignore")
	}
	r := &configReader{home: u.Home, repo: repo, sources: sources}
	r.visit = func(set setting) (err error) {
		switch set.name {
		case "core.excludesfile":
			// git's commands run at the top of the work tree.
			err = assign(&s.ExcludesFile)(r.path(set, root))
		case "core.ignorecase":
			err = assign(&s.IgnoreCase)(set.boolean())
		}
		return err
	}
	r.readAll()
	return s, errors.Join(r.errs...)
}

// assign stores a value that comes with an error only if there is none.
func assign[T any](to *T) func(T, error) error {
	return func(v T, err error) error {
		if err == nil {
			*to = v
		}
		return err
	}
}
