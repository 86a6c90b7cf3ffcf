package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/BurntSushi/toml"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// maxFile is how many bytes a file may have.
const maxFile = 1 << 20

// projectKey begins the sections of single projects.
const projectKey = "project"

// file is a file that was read.
type file struct {
	path, text string
	values     map[string]any
	own        bool // it is the project's own
}

func (c *Config) loadFile(path string, apply func(*file) error) error {
	if path == "" {
		return nil
	}
	f, err := readFile(path)
	if f == nil || err != nil {
		return err
	}
	return apply(f)
}

var errNoFile = errors.New("no regular file of at most 1 MiB")

// readFile returns nil for a file that does not exist, as in the home /dev/null of a service.
// Beside an error it returns the file if its text was read.
func readFile(path string) (*file, error) {
	in, err := atomicfile.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return nil, nil
	case errors.Is(err, atomicfile.ErrNotRegular), errors.Is(err, syscall.EISDIR):
		return nil, &Error{Where: path, Err: errNoFile}
	case err != nil:
		return nil, &Error{Where: path, Err: errors.Unwrap(err)}
	}
	defer in.Close()
	if info, err := in.Stat(); err != nil || info.Size() > maxFile {
		return nil, &Error{Where: path, Err: errors.Join(err, errNoFile)}
	}
	data, err := io.ReadAll(io.LimitReader(in, maxFile))
	if err != nil {
		return nil, &Error{Where: path, Err: err}
	}
	f := &file{path: path, text: string(data)}
	if _, err := toml.Decode(f.text, &f.values); err != nil {
		var parse toml.ParseError
		if errors.As(err, &parse) {
			reason := parse.Message
			if reason == "" {
				reason = strings.TrimPrefix(parse.Error(), "toml: ")
			}
			reason = strings.Replace(reason, "unexpected EOF; ", "the file ends too early: ", 1)
			return f, &Error{Where: path, Line: parse.Position.Line, Key: f.keyAt(parse.Position.Line), Err: errors.New(reason)}
		}
		return f, &Error{Where: path, Err: err}
	}
	return f, nil
}

// apply takes over the keys of one table: the top one, or a section. All complaints
// are made at once.
func (f *file) apply(c *Config, section []string) error {
	var errs []error
	for _, key := range sortedKeys(f.table(section)) {
		if key == projectKey && section == nil && !f.own {
			continue
		}
		if err := f.set(c, section, key, f.table(section)[key]); err != nil {
			errs = append(errs, &Error{Where: f.path, Line: f.line(section, key), Key: key, Err: err})
		}
	}
	return errors.Join(errs...)
}

func sortedKeys(table map[string]any) []string {
	var keys []string
	for key := range table {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

func (f *file) table(section []string) map[string]any {
	t := f.values
	for _, name := range section {
		t, _ = t[name].(map[string]any)
	}
	return t
}

// applyProject takes over the section of a project, and checks those of the others.
func (f *file) applyProject(c *Config, project string) error {
	sections, ok := f.values[projectKey]
	if !ok {
		return nil
	}
	byPath, ok := sections.(map[string]any)
	if !ok {
		return &Error{
			Where: f.path, Line: f.line(nil, projectKey), Key: projectKey,
			Err: errors.New(`want sections [project."/absolute/path"]`),
		}
	}
	var errs []error
	for _, path := range sortedKeys(byPath) {
		section := []string{projectKey, path}
		into := c
		if !leadsTo(path, project) {
			into = &Config{decided: make(map[string]Decision)}
		}
		if _, ok := byPath[path].(map[string]any); !ok || !filepath.IsAbs(path) {
			errs = append(errs, &Error{
				Where: f.path, Line: f.line(section[:1], path), Key: projectKey,
				Err: fmt.Errorf("%q is not an absolute path with settings below it", path),
			})
			continue
		}
		errs = append(errs, f.apply(into, section))
	}
	return errors.Join(errs...)
}

// leadsTo reports whether the path of a section is that of a root, also through a symlink or in another spelling.
func leadsTo(path, root string) bool {
	if root == "" || filepath.Clean(path) == root {
		return root != ""
	}
	there, err := os.Stat(path)
	if err != nil {
		return false
	}
	here, err := os.Stat(root)
	return err == nil && os.SameFile(there, here)
}

func (f *file) set(c *Config, section []string, key string, value any) error {
	s := find(key)
	switch {
	case s == nil:
		return unknown(key)
	case s.user && f.own:
		return errors.New("only your own configuration can set this")
	}
	origin := f.path
	if n := f.line(section, key); n > 0 {
		origin += ":" + strconv.Itoa(n)
	}
	if f.own {
		if why := c.refuse(key, value); why != "" {
			// A value that makes no sense stays an error.
			text, err := f.value(&Config{decided: make(map[string]Decision)}, s, value)
			c.refused = append(c.refused, Decision{key, text, origin, why})
			return err
		}
	}
	text, err := f.value(c, s, value)
	if err != nil {
		return err
	}
	c.Decide(key, text, origin)
	return nil
}

// value sets one key and returns its value as text.
func (f *file) value(c *Config, s *setting, value any) (string, error) {
	if s.list != nil {
		items, ok := value.([]any)
		if !ok {
			return "", errors.New(`want an array of texts, as in ["*.pem", "secrets/"]`)
		}
		var texts []string
		for _, item := range items {
			text, ok := item.(string)
			if !ok || text == "" {
				return "", fmt.Errorf("want an array of texts, %v is none", item)
			}
			texts = append(texts, text)
		}
		*s.list(c) = append(*s.list(c), texts...)
		if s.good != nil {
			if err := s.good(*s.list(c)); err != nil {
				return "", err
			}
		}
		return strings.Join(*s.list(c), ","), nil
	}
	if t, ok := value.(map[string]any); ok && s.table != nil {
		text, err := s.table(t)
		if err != nil {
			return "", err
		}
		return text, s.text(c, text)
	}
	var text string
	switch v := value.(type) {
	case string:
		text = v
	case int64:
		text = strconv.FormatInt(v, 10)
	case bool:
		text = strconv.FormatBool(v)
	default:
		return "", fmt.Errorf("want a text, a number or true or false, not %v", value)
	}
	return text, s.text(c, text)
}

// keyAt is the key that a line sets, "" if it sets none.
func (f *file) keyAt(line int) string {
	n := 0
	for text := range strings.Lines(f.text) {
		if n++; n == line {
			if name, _, found := strings.Cut(text, "="); found {
				return strings.Trim(strings.TrimSpace(name), `"'`)
			}
		}
	}
	return ""
}

// line finds where a key is set, 0 if that cannot be told: the parser does not say.
func (f *file) line(section []string, key string) int {
	wanted, here := strings.Join(section, "\x00"), ""
	n := 0
	for text := range strings.Lines(f.text) {
		n++
		text = strings.TrimSpace(text)
		if strings.HasPrefix(text, "[") {
			names := headerNames(text)
			if here = strings.Join(names, "\x00"); len(names) > 0 && names[len(names)-1] == key && strings.Join(names[:len(names)-1], "\x00") == wanted {
				return n
			}
			continue
		}
		name, _, found := strings.Cut(text, "=")
		if found && here == wanted && strings.Trim(strings.TrimSpace(name), `"'`) == key {
			return n
		}
	}
	return 0
}

// headerNames are the names in a line like [project."/a.b"].
func headerNames(text string) []string {
	var table map[string]any
	meta, err := toml.Decode(text, &table)
	if err != nil {
		return nil
	}
	var longest []string
	for _, key := range meta.Keys() {
		if len(key) > len(longest) {
			longest = key
		}
	}
	return longest
}

// unknown suggests what may have been meant.
func unknown(key string) error {
	known := make([]string, len(settings))
	for i := range settings {
		known[i] = settings[i].key
	}
	best := wording.Nearest(key, known, 3)
	if best == "" {
		return errors.New("no such setting (cairn help config lists them)")
	}
	return fmt.Errorf("no such setting, did you mean %s?", best)
}
