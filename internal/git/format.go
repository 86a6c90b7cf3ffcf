package git

import (
	"path/filepath"
	"strings"
)

// maxConfig limits the size of one configuration file.
const maxConfig = 16 << 20

// format is the repository's configuration about itself. As in git, includes are not followed.
type format struct {
	bare           bool
	worktree       string // core.worktree, "" if unset
	sha256         bool
	worktreeConfig bool // config.worktree is read too

	versioned bool // core.repositoryFormatVersion is set; if not, none of this counts
}

// readFormat reads the settings that it can. A linked worktree does not inherit core.bare and
// core.worktree from the main work tree, unless it has a configuration of its own that sets them.
func readFormat(at dirs) format {
	var f format
	data, err := ReadFile(filepath.Join(at.common, "config"), maxConfig)
	if err == nil {
		_ = parseConfig("", data, f.visit) // up to the mistake; IgnoreSettings reports it
	}
	if !f.versioned {
		return format{}
	}
	if f.worktreeConfig {
		if data, err := ReadFile(filepath.Join(at.git, "config.worktree"), maxConfig); err == nil {
			_ = parseConfig("", data, f.visit)
		}
	} else if at.git != at.common {
		f.bare, f.worktree = false, ""
	}
	return f
}

func (f *format) visit(s setting) {
	switch s.name {
	case "core.repositoryformatversion":
		f.versioned = true
	case "core.bare":
		setBool(&f.bare, s)
	case "core.worktree":
		f.worktree = s.value
	case "extensions.objectformat":
		f.sha256 = strings.EqualFold(s.value, "sha256")
	case "extensions.worktreeconfig":
		setBool(&f.worktreeConfig, s)
	}
}

// setBool leaves *b alone if the value is not a boolean.
func setBool(b *bool, s setting) {
	if v, err := s.boolean(); err == nil {
		*b = v
	}
}
