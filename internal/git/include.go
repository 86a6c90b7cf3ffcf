package git

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

const (
	// maxIncludeDepth is git's own limit.
	maxIncludeDepth = 10
	// maxConfigFiles and maxConfigBytes limit all reads together: by nesting alone a
	// small configuration can name exponentially many files.
	maxConfigFiles = 1000
	maxConfigBytes = 64 << 20
	// maxGlobWork limits what all conditions together may cost, in bytes of
	// pattern times bytes of text; beyond it they are not met.
	maxGlobWork = 1 << 28
)

// configReader reads configuration files with their includes in git's order: an included file takes
// the place of the line that names it. Errors are collected in errs, and the faulty part is left
// out.
type configReader struct {
	home  string
	repo  *Repo // nil outside of a repository: conditions on it are not met
	visit func(setting) error
	errs  []error

	sources []string // the files that were asked for, in order
	count   int      // of files read so far
	bytes   int      // likewise
	work    int64    // spent on conditions so far
	open    []string // the file being read and those that include it
	urls    []string // of the remotes; nil until a condition asks
	scan    bool     // this reader only collects urls
}

// readAll reads the sources in order.
func (r *configReader) readAll() {
	for _, source := range r.sources {
		r.read(source)
	}
}

// read reads one file. A file that does not exist counts as empty. So does the null device, with
// which users switch a file off.
func (r *configReader) read(path string) {
	if path == os.DevNull || slices.Contains(r.open, path) {
		return // a circle: the file is being read already
	}
	if r.count++; r.count > maxConfigFiles || r.bytes > maxConfigBytes || len(r.open) > maxIncludeDepth {
		r.fail(fmt.Errorf("%s: not read: configuration files are too many, too large or nested too deeply", path))
		return
	}
	data, err := ReadFile(path, maxConfig)
	if err != nil {
		if !isMissing(err) {
			r.fail(fmt.Errorf("read git configuration: %w", err))
		}
		return
	}
	r.bytes += len(data)
	r.open = append(r.open, path)
	err = parseConfig(path, data, func(s setting) { r.setting(path, s) })
	r.open = r.open[:len(r.open)-1]
	if err != nil {
		r.fail(fmt.Errorf("read git configuration: %w", err))
	}
}

// isMissing reports whether a file does not exist, also if its parent is a file.
func isMissing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// fail notes an error. The list is short even if the user's configuration is not.
func (r *configReader) fail(err error) {
	if len(r.errs) < 20 && !r.scan && !errors.Is(err, errAbsent) {
		r.errs = append(r.errs, err)
	}
}

// setting passes a variable on, or follows it if it is an include.
func (r *configReader) setting(file string, s setting) {
	if err := r.visit(s); err != nil {
		r.fail(fmt.Errorf("%s:%d: %w", file, s.line, err))
	}
	if condition, ok := strings.CutPrefix(s.name, "includeif."); ok {
		condition, ok = strings.CutSuffix(condition, ".path")
		if !ok || !r.met(condition, file) {
			return
		}
	} else if s.name != "include.path" {
		return
	}
	path, err := r.path(s, filepath.Dir(file))
	switch {
	case err != nil:
		r.fail(fmt.Errorf("%s:%d: %w", file, s.line, err))
	case path != "":
		r.read(filepath.Clean(path))
	}
}

// path returns the path in a setting: "~/" is the home directory, and other relative paths are
// relative to dir. A path marked ":(optional)" that does not exist is errAbsent.
func (r *configReader) path(s setting, dir string) (string, error) {
	value, optional := strings.CutPrefix(s.value, ":(optional)")
	path := filepath.FromSlash(value)
	switch {
	case !s.hasValue:
		return "", fmt.Errorf("%s has no value", s.name)
	case value == "~" || strings.HasPrefix(value, "~/"):
		if r.home == "" {
			return "", fmt.Errorf("%s = %q: the home directory is not known", s.name, s.value)
		}
		path = filepath.Join(r.home, value[1:])
	case strings.HasPrefix(value, "~"), strings.HasPrefix(value, "%(prefix)/"):
		return "", fmt.Errorf("%s = %q: only ~/ is expanded", s.name, s.value)
	case value != "" && value != os.DevNull && !filepath.IsAbs(path):
		if dir == "" {
			return "", fmt.Errorf("%s = %q: relative, and there is no work tree", s.name, s.value)
		}
		path = filepath.Join(dir, path)
	}
	if optional {
		if _, err := os.Stat(path); err != nil {
			return "", errAbsent
		}
	}
	return path, nil
}

// errAbsent: the setting counts as absent and is not reported.
var errAbsent = errors.New("optional path does not exist")

// met decides the condition of an includeIf. An unknown kind of condition is not met.
func (r *configReader) met(condition, file string) bool {
	kind, pattern, _ := strings.Cut(condition, ":")
	switch kind {
	case "gitdir":
		return r.inGitDir(pattern, file, false)
	case "gitdir/i":
		return r.inGitDir(pattern, file, true)
	case "onbranch":
		if strings.HasSuffix(pattern, "/") {
			pattern += "**"
		}
		return r.repo != nil && r.repo.branch() != "" && r.glob(pattern, r.repo.branch(), false)
	case "hasconfig":
		pattern, ok := strings.CutPrefix(pattern, "remote.*.url:")
		return ok && slices.ContainsFunc(r.remoteURLs(), func(url string) bool {
			return r.glob(pattern, url, false)
		})
	}
	return false
}

// inGitDir matches the git directory, by its real path and by the caller's
// spelling of it. What "~" and "./" stand for is compared as it is, not as a glob.
func (r *configReader) inGitDir(pattern, file string, fold bool) bool {
	if r.repo == nil {
		return false
	}
	prefix := ""
	switch {
	case strings.HasPrefix(pattern, "~/"):
		if r.home == "" {
			return false
		}
		prefix, pattern = resolved(r.home), pattern[1:]
	case strings.HasPrefix(pattern, "./"):
		prefix, pattern = resolved(filepath.Dir(file)), pattern[1:]
	case !filepath.IsAbs(pattern) && pattern[:min(1, len(pattern))] != "/":
		pattern = "**/" + pattern
	}
	if strings.HasSuffix(pattern, "/") {
		pattern += "**"
	}
	for _, dir := range []string{r.repo.GitDir, r.repo.spelled} {
		if dir != "" && r.globBelow(filepath.ToSlash(prefix), pattern, filepath.ToSlash(dir), fold) {
			return true
		}
	}
	return false
}

// glob is matchGlob within the limits of this reader.
func (r *configReader) glob(pattern, text string, fold bool) bool {
	if r.work += int64(len(pattern)) * int64(len(text)); r.work > maxGlobWork {
		return false
	}
	return matchGlob(pattern, text, fold)
}

// globBelow matches text, which must begin with prefix literally.
func (r *configReader) globBelow(prefix, pattern, text string, fold bool) bool {
	if len(text) < len(prefix) {
		return false
	}
	head := text[:len(prefix)]
	if head != prefix && !(fold && lower([]byte(head)) == lower([]byte(prefix))) {
		return false
	}
	return r.glob(pattern, text[len(prefix):], fold)
}

// remoteURLs reads the URLs of remotes from the sources. A file that is included because of such a
// URL may not add URLs.
func (r *configReader) remoteURLs() []string {
	if r.scan || r.urls != nil {
		return r.urls
	}
	r.urls = []string{}
	scan := &configReader{home: r.home, repo: r.repo, sources: r.sources, scan: true}
	scan.visit = func(s setting) error {
		name, ok := strings.CutPrefix(s.name, "remote.")
		if ok && strings.HasSuffix(name, ".url") {
			r.urls = append(r.urls, s.value)
		}
		return nil
	}
	scan.readAll()
	return r.urls
}
