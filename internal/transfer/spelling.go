package transfer

import (
	"maps"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// defaultPorts are the ports of URLs that name none.
var defaultPorts = map[string]string{"ssh": "22", "git": "9418", "http": "80", "https": "443"}

// plainRemote spells a remote in one way: without a password, a default port, a slash or ".git" at the end, and with a
// path in the place of a file URL. Two spellings that a server may tell apart beyond that stay two. A path keeps
// ".git", because x and x.git can lie beside each other. It is for comparing, and not for git.
func plainRemote(where string) string {
	if IsLocal(where) {
		return filepath.Clean(where)
	}
	if !strings.Contains(where, "://") {
		return plainHostPath(where)
	}
	u, err := url.Parse(where)
	if err != nil { // as with a port that is no number
		return where
	}
	u.Scheme, u.Host = strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	if u.Scheme == "file" && u.Host == "" {
		return filepath.Clean(filepath.FromSlash(u.Path))
	}
	switch u.Scheme {
	case "git+ssh", "ssh+git":
		u.Scheme = "ssh"
	}
	u.Host = strings.TrimSuffix(u.Host, ":"+defaultPorts[u.Scheme])
	if u.User != nil {
		u.User = url.User(u.User.Username())
	}
	u.Path, u.RawPath = withoutGit(u.Path), ""
	return u.String()
}

// plainHostPath is plainRemote of the form host:path. With an absolute path it is that of an SSH URL.
func plainHostPath(where string) string {
	host, at, ok := strings.Cut(where, ":")
	switch {
	case !ok:
		return where
	case strings.HasPrefix(at, "/"):
		return plainRemote("ssh://" + host + at)
	}
	user := strings.LastIndexByte(host, '@') + 1
	return host[:user] + strings.ToLower(host[user:]) + ":" + withoutGit(at)
}

func withoutGit(at string) string {
	if at == "" {
		return at
	}
	return strings.TrimSuffix(path.Clean(at), ".git")
}

// spelled returns the name under which a store knows a remote: as it is, else as it was spelled before, else as it is.
// Of several spellings the first one counts for which better holds.
func spelled[T any](known map[string]T, where string, better func(T) bool) string {
	if _, ok := known[where]; ok {
		return where
	}
	found, plain := where, plainRemote(where)
	for _, name := range slices.Sorted(maps.Keys(known)) {
		if plainRemote(name) != plain {
			continue
		}
		if better(known[name]) {
			return name
		}
		if found == where {
			found = name
		}
	}
	return found
}
