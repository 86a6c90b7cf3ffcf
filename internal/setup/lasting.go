package setup

import (
	"errors"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Hooks name a path of cairn. Package managers put every version into a directory of its
// own, which goes with the next one, and lead to it from a path that stays.

// ErrTemporary: the program is one of go run, and gone when it ends.
var ErrTemporary = errors.New("this cairn is a temporary program of go run: install it, with go install, and run its setup")

// Program is where cairn runs from, on a system.
type Program struct {
	OS   string // as runtime.GOOS
	File string // of the program
	Path string // directories in which programs are looked for, as in PATH
	Home string // "" if not known
	User string // name of the user, "" if not known

	// Same reports whether two paths lead to one file.
	Same func(a, b string) bool
}

// Lasting returns a path that leads to the program after an update, too: the first one in
// PATH, or one of the places where package managers keep it, that is of no version. Passing
// means that there is none, and the path goes with the next update.
func (p *Program) Lasting() (file string, passing bool, err error) {
	if p.temporary() {
		return p.File, true, ErrTemporary
	}
	for _, candidate := range append(p.inPath(), p.kept()...) {
		if !p.versioned(candidate) && p.Same(candidate, p.File) {
			return candidate, false, nil
		}
	}
	return p.File, p.versioned(p.File), nil
}

// inPath lists the paths that the program's name has in PATH.
func (p *Program) inPath() (list []string) {
	separator := ":"
	if p.OS == "windows" {
		separator = ";"
	}
	for _, dir := range strings.Split(p.Path, separator) {
		if file := p.slashes(dir) + "/" + path.Base(p.slashes(p.File)); p.absolute(dir) {
			list = append(list, p.native(file))
		}
	}
	return list
}

func (p *Program) absolute(dir string) bool {
	if p.OS != "windows" {
		return strings.HasPrefix(dir, "/")
	}
	return len(dir) >= 3 && dir[1] == ':' || strings.HasPrefix(dir, `\\`)
}

// kept lists where package managers keep a path of every version, also outside PATH.
func (p *Program) kept() (list []string) {
	file := p.slashes(p.File)
	name := path.Base(file)
	if m := cellar().FindStringSubmatch(file); m != nil { // prefix, formula, rest
		list = append(list, m[1]+"/bin/"+name, m[1]+"/opt/"+m[2]+m[3])
	}
	if m := scoop().FindStringSubmatch(file); m != nil && p.OS == "windows" {
		list = append(list, m[1]+"/current"+m[2])
	}
	if strings.Contains(file, "/nix/store/") {
		for _, dir := range []string{
			p.Home + "/.nix-profile", p.Home + "/.local/state/nix/profile", "/etc/profiles/per-user/" + p.User,
			"/run/current-system/sw", "/nix/var/nix/profiles/default",
		} {
			list = append(list, dir+"/bin/"+name)
		}
	}
	for i := range list {
		list[i] = p.native(list[i])
	}
	return list
}

// Homebrew and Scoop keep each version in a directory of its own. The patterns are compiled when
// they are needed, because every start of the program would pay for them.
var (
	cellar = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(.*)/Cellar/([^/]+)/[^/]+(/.*)$`) })
	scoop  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)^(.*/scoop/apps/[^/]+)/[^/]+(/.*)$`) })
)

// temporary reports whether the program is one that go run has built.
func (p *Program) temporary() bool {
	file := p.slashes(p.File)
	return strings.Contains(file, "/go-build") && strings.HasSuffix(path.Dir(file), "/exe")
}

// passing are the parts of paths that go with a version.
var passing = []string{
	"/cellar/", "/nix/store/", "/gnu/store/", "/mise/installs/", "/.asdf/installs/", "/winget/packages/", "/chocolatey/lib/",
}

// caches are the parts of paths that anything may empty at any time.
var caches = []string{
	"/_npx/", "/.npm/", "/npm-cache/", "/dlx-", "/.bun/install/cache/", "/.cache/", "/caches/", "/appdata/local/temp/",
}

// Cached reports whether the program lies in a cache, as that of npx.
func (p *Program) Cached() bool { return hasPart(strings.ToLower(p.slashes(p.File)), caches) }

func hasPart(file string, parts []string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(file, part) })
}

func (p *Program) versioned(file string) bool {
	file = strings.ToLower(p.slashes(file))
	if m := scoop().FindStringSubmatch(file); m != nil && !strings.HasPrefix(file, m[1]+"/current/") {
		return true
	}
	return hasPart(file, passing) || hasPart(file, caches)
}

// slashes and native turn a path into one with slashes, and back.
func (p *Program) slashes(file string) string {
	if p.OS == "windows" {
		file = strings.ReplaceAll(file, `\`, "/")
	}
	return strings.TrimRight(file, "/")
}

func (p *Program) native(file string) string {
	if p.OS == "windows" {
		return strings.ReplaceAll(file, "/", `\`)
	}
	return file
}
