package workdirs

import (
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/known"
	"github.com/seed-fb9cbc17/cairn/internal/realpath"
)

// Sources are where an agent tells of its directories. Only Agent and Project are required.
type Sources struct {
	Agent    string              // a name of package known
	Project  string              // absolute; relative paths count from it
	Home     string              // of the user, for "~/"; "" if it is not known
	Settings []string            // files of the agent's settings, those of the user and of the project
	Record   string              // the agent's own record of the session, "" for none
	Env      func(string) string // variables that the agent hands on; nil for none
	Lines    iter.Seq[[]string]  // command lines of the processes above, the nearest first; nil for none
	Private  []string            // directories of the agent's own files
}

// maxDirs is how many directories Roots looks at.
const maxDirs = 100

// Roots lists the roots around the directories, real paths, each once. It leaves out what is not there, and
// what no turn should bring back: a file system, directories for temporary files, the home directory and those
// above it, the agent's own files, and directories of settings in the home directory that are no work tree of
// git. rootOf finds the root around a directory. Of more than 100 directories Roots looks at the first ones: a
// file of settings may come from elsewhere, and an agent waits.
func (s *Sources) Roots(rootOf func(string) (string, error)) []string {
	var roots []string
	dirs := slices.Concat(s.onLine(), s.inSettings(), s.inRecord(), s.inEditor())
	for _, dir := range dirs[:min(len(dirs), maxDirs)] {
		dir = s.absolute(dir)
		if dir == "" || s.barred(dir) {
			continue
		}
		root, err := rootOf(dir)
		if err == nil && !s.barred(root) && !slices.Contains(roots, root) {
			roots = append(roots, root)
		}
	}
	return roots
}

// absolute is the real path of a directory, "" if there is none.
func (s *Sources) absolute(dir string) string {
	if rest, ok := strings.CutPrefix(filepath.ToSlash(dir), "~"); ok && s.Home != "" && (rest == "" || rest[0] == '/') {
		dir = filepath.Join(s.Home, rest)
	}
	if strings.TrimSpace(dir) == "" || strings.IndexByte(dir, 0) >= 0 {
		return ""
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(s.Project, dir)
	}
	real, err := realpath.Of(dir)
	if err != nil {
		return ""
	}
	if info, err := os.Stat(real); err != nil || !info.IsDir() {
		return ""
	}
	return real
}

// barred reports whether no turn should bring a directory back.
func (s *Sources) barred(dir string) bool {
	if Common(dir, s.Home) {
		return true
	}
	if slices.ContainsFunc(s.Private, func(own string) bool { return own != "" && realpath.Within(dir, resolved(own)) }) {
		return true
	}
	return s.isSettingsDir(dir) && !s.inWorkTree(dir)
}

// Without returns directories that an agent names without those that Roots leaves out for what they hold.
func (s *Sources) Without(dirs []string) []string {
	return slices.DeleteFunc(slices.Clone(dirs), func(dir string) bool { return s.barred(resolved(dir)) })
}

// Common reports whether a directory, a real path, has files of programs of all kinds: it is a file system, or
// holds the home directory or one for temporary files. A home of "" is not known.
func Common(dir, home string) bool {
	holds := func(place string) bool { return place != "" && realpath.Within(resolved(place), dir) }
	return dir == filepath.Dir(dir) || holds(home) || slices.ContainsFunc(temporary(), holds)
}

// isSettingsDir reports whether a directory lies in one of the home directory that holds settings and other
// files of programs.
func (s *Sources) isSettingsDir(dir string) bool {
	if s.Home == "" {
		return false
	}
	rel, err := filepath.Rel(resolved(s.Home), dir)
	if err != nil || !filepath.IsLocal(rel) {
		return false
	}
	first, _, _ := strings.Cut(filepath.ToSlash(rel), "/")
	return strings.HasPrefix(first, ".") || runtime.GOOS == "darwin" && first == "Library" || runtime.GOOS == "windows" && first == "AppData"
}

// inWorkTree reports whether a directory below the home directory lies in a work tree of git below it.
func (s *Sources) inWorkTree(dir string) bool {
	for home := resolved(s.Home); dir != home && realpath.Within(dir, home); dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return true
		}
	}
	return false
}

// temporary lists the directories for temporary files.
func temporary() []string {
	list := []string{os.TempDir()}
	if runtime.GOOS != "windows" {
		list = append(list, "/tmp", "/var/tmp", "/dev/shm")
	}
	return list
}

func resolved(path string) string {
	if real, err := realpath.Of(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}

// inEditor lists the folders that an editor opened: Gemini CLI works in all of them.
func (s *Sources) inEditor() []string {
	if s.Agent != known.Gemini || s.Env == nil {
		return nil
	}
	return filepath.SplitList(s.Env("GEMINI_CLI_IDE_WORKSPACE_PATH"))
}
