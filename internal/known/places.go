package known

import (
	"path"
	"strings"
)

// System is what decides where programs keep their configuration.
type System struct {
	OS   string // as runtime.GOOS
	Home string // "" if not known
	Env  func(string) string
}

// candidate is a place where configuration may lie.
type candidate struct {
	system   string // where it counts, "" for every system
	variable string // that names the directory; "" means the home directory
	below    string // what follows, with slashes
}

// Dir is the directory of the user's configuration, "" if it is not known.
func (s System) Dir(a Agent) string { return s.first(a.dirs) }

// Data is the directory that shows that the agent is there.
func (s System) Data(a Agent) string {
	if len(a.data) == 0 {
		return s.Dir(a)
	}
	return s.first(a.data)
}

// first is the first candidate that has a base. Agents use the same directories below the
// home directory on all systems, unless a candidate is of one system.
func (s System) first(list []candidate) string {
	for _, c := range list {
		base := s.Home
		if c.variable != "" {
			base = s.Env(c.variable)
		}
		if c.system != "" && c.system != s.OS || !s.absolute(base) {
			continue
		}
		return s.join(base, c.below)
	}
	return ""
}

// absolute reports whether a path is absolute on the system.
func (s System) absolute(p string) bool {
	if s.OS != "windows" {
		return strings.HasPrefix(p, "/")
	}
	drive := len(p) >= 3 && p[1] == ':' && (p[2] == '\\' || p[2] == '/')
	return drive || strings.HasPrefix(p, `\\`)
}

func (s System) join(base, below string) string {
	switch {
	case below == "":
		return base
	case s.OS == "windows":
		return strings.TrimRight(base, `\/`) + `\` + strings.ReplaceAll(below, "/", `\`)
	}
	return path.Join(base, below)
}
