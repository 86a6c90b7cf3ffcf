package git

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/seed-fb9cbc17/cairn/internal/ignore"
)

// Attributes tells for which paths git may store other bytes than those on disk without a
// difference in size: where a filter driver or an encoding applies. Line ends and $Id$ need no
// rule, because git's conversion of them makes a blob shorter.
//
// It errs on one side only: a line that removes an attribute (-filter) is ignored. It is safe for
// concurrent use.
type Attributes struct {
	top   string // of the work tree
	index *Index
	outer *ignore.Chain // applies to the whole work tree
	all   bool          // every path may be converted
	some  bool          // some path may be converted

	mu   sync.Mutex
	dirs map[string]*AttributeDir
}

// AttributeDir holds the rules for the names in one directory.
type AttributeDir struct {
	chain *ignore.Chain
	all   bool // every name may be converted
	some  bool // a name may be converted
}

// maxAttributes is the number of bytes that are read of one file. Git's own limit is 100 MiB.
// Beyond this limit every path counts as converted.
const maxAttributes = 1 << 20

// Attributes reads the attribute files outside of the work tree. Those inside are read when they
// are needed. index is the index of the work tree, for files that are not checked out.
func (r *Repo) Attributes(u UserConfig, index *Index) *Attributes {
	a := &Attributes{top: r.Top, index: index, dirs: make(map[string]*AttributeDir)}
	var outer []*ignore.Patterns
	for _, path := range r.attributeFiles(u) {
		patterns, all := readAttributes(path)
		outer = append(outer, patterns)
		a.all = a.all || all
		a.some = a.some || all || patterns.Len() > 0
	}
	a.outer = ignore.NewChain(outer...)
	return a
}

func (r *Repo) attributeFiles(u UserConfig) []string {
	list := []string{filepath.Join(r.CommonDir, "info", "attributes")}
	for _, config := range u.System {
		list = append(list, filepath.Join(filepath.Dir(config), "gitattributes"))
	}
	own := ""
	if dir := u.configHome(); dir != "" {
		own = filepath.Join(dir, "git", "attributes")
	}
	reader := &configReader{home: u.Home, repo: r, sources: r.configFiles(u)}
	reader.visit = func(set setting) (err error) {
		if set.name == "core.attributesfile" {
			err = assign(&own)(reader.path(set, r.Top))
		}
		return err
	}
	reader.readAll()
	if own != "" {
		list = append(list, own)
	}
	return list
}

// Dir returns the rules for a directory of the work tree; "" is the top. names are all names in the
// directory, nil if they are not known. They save a look for the attribute file.
func (a *Attributes) Dir(dir string, names [][]byte) *AttributeDir {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.dir(dir, names == nil || slices.ContainsFunc(names, mayBeAttributes))
}

// attributeFile is the name of the attribute files in a work tree.
const attributeFile = ".gitattributes"

// mayBeAttributes reports whether a file system may take a listed name for that of the attribute file.
// Some ignore case, or characters outside of ASCII.
func mayBeAttributes(name []byte) bool {
	return len(name) == len(attributeFile) && strings.EqualFold(string(name), attributeFile) ||
		slices.ContainsFunc(name, func(c byte) bool { return c >= utf8.RuneSelf })
}

// Convert reports whether git may convert the file of this name in the directory without a
// difference in size.
func (d *AttributeDir) Convert(dir string, name []byte) bool {
	if !d.some {
		return false
	}
	if dir != "" {
		dir += "/"
	}
	return d.all || d.chain.Ignored(dir+string(name), false)
}

// dir enters a directory and those above it. look is false for a directory without an attribute file.
func (a *Attributes) dir(dir string, look bool) *AttributeDir {
	if d := a.dirs[dir]; d != nil {
		return d
	}
	above := &AttributeDir{a.outer, a.all, a.some}
	if dir != "" {
		above = a.dir(dirOf(dir), true)
	}
	d := *above
	patterns, all := a.inside(dir, look)
	d.all = d.all || all
	d.some = d.some || all || patterns.Len() > 0
	d.chain = d.chain.Enter(dir, patterns)
	a.dirs[dir] = &d
	return &d
}

// dirOf returns the directory that a path lies in, "" for the top.
func dirOf(path string) string { return path[:max(0, strings.LastIndexByte(path, '/'))] }

// inside reads the .gitattributes of a directory. If the file is not checked out, its rules are not
// known.
func (a *Attributes) inside(dir string, look bool) (patterns *ignore.Patterns, all bool) {
	path := filepath.Join(a.top, filepath.FromSlash(dir), attributeFile)
	if look {
		_, err := os.Lstat(path)
		look = !errors.Is(err, fs.ErrNotExist)
	}
	if !look {
		return nil, a.index.Contains(strings.TrimPrefix(dir+"/"+attributeFile, "/"))
	}
	return readAttributes(path)
}

// readAttributes returns the patterns of a file that set a filter or an encoding. all means that
// the patterns are not known.
func readAttributes(path string) (patterns *ignore.Patterns, all bool) {
	text, err := ReadFile(path, maxAttributes)
	if errors.Is(err, fs.ErrNotExist) {
		return ignore.Parse(nil, false), false
	}
	if err != nil {
		return ignore.Parse(nil, false), true
	}
	var lines bytes.Buffer
	for line := range bytes.Lines(bytes.TrimPrefix(text, []byte("\ufeff"))) {
		if !bytes.Contains(line, []byte("filter")) && !bytes.Contains(line, []byte("working-tree-encoding")) {
			continue
		}
		fields := bytes.Fields(line)
		switch pattern := fields[0]; {
		case pattern[0] == '#', pattern[0] == '!': // a comment; what git refuses
		case pattern[0] == '"', bytes.HasPrefix(pattern, []byte("[attr]")):
			all = true // quoted, or a macro that other lines may use
		default:
			lines.Write(pattern)
			lines.WriteByte('\n')
		}
	}
	return ignore.Parse(lines.Bytes(), true), all
}
