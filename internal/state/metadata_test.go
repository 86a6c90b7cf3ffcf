package state

import (
	"errors"
	"maps"
	"reflect"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

var usualBits = Permissions{File: 0o644, Exec: 0o755, Dir: 0o755}

// full is metadata with every field set and bytes that JSON cannot carry as they are.
func full() *Metadata {
	return &Metadata{
		Version: MetadataVersionPartial, Perm: usualBits, Partial: ExtentPaths,
		Perms:   PathPerms{"a\xff": 0o600, "d/<b>": 0o4755},
		Empty:   []Path{"empty", "e\xfe"},
		Bare:    []Path{"bare"},
		Skipped: []Skipped{{Path: "big\xff", Reason: "too large", Size: 5 << 30}},
		Ignore:  IgnoreContext{Sources: []RuleLines{"*.o\n"}, Parents: []RuleLines{"x\xff\n"}, Prefix: "p/", FoldCase: true, Unknown: true},
		Rules:   &ruleRecord{Texts: []ruleText{{Text: "*.tmp\n", In: []Path{"", "d"}}}, Unknown: []Path{"u"}},
		Seen:    []Path{"seen"},
	}
}

// What is encoded comes back the same, whatever the bytes of its paths are.
func TestMetadataRoundTrip(t *testing.T) {
	t.Parallel()
	for name, m := range map[string]*Metadata{
		"usual":         {Version: MetadataVersion, Perm: usualBits},
		"full":          full(),
		"by a deadline": {Version: MetadataVersionPartial, Partial: ExtentTime, Perm: usualBits},
		"no rules left": {Version: MetadataVersion, Rules: &ruleRecord{}},
	} {
		text, err := m.Encode()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if strings.ContainsAny(text, "\n\x00") {
			t.Errorf("%s: %q is no value of a header", name, text)
		}
		got, err := DecodeMetadata(text)
		if err != nil || !reflect.DeepEqual(got, m) {
			t.Errorf("%s: %q decodes as %+v, %v, want %+v", name, text, got, err, m)
		}
	}
}

// The header of a usual tree is short, and its text is part of every commit id: another text
// for the same state would be another commit.
func TestMetadataText(t *testing.T) {
	t.Parallel()
	m := &Metadata{Version: MetadataVersion, Perm: usualBits, Perms: PathPerms{"b": 0o600, "a": 0o4711}}
	const want = `{"v":1,"perm":{"file":"644","exec":"755","dir":"755"},"perms":{"a":"4711","b":"600"}}`
	for range 20 { // the order of a map is another one each time
		if got, err := m.Encode(); err != nil || got != want {
			t.Fatalf("%s, %v, want %s", got, err, want)
		}
	}
}

// Metadata of a later release are refused and damaged ones are called damaged: neither is
// taken for the metadata of a whole checkpoint.
func TestDecodeMetadataRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]error{
		``:                                  ErrCorrupt,
		`{`:                                 ErrCorrupt,
		`[]`:                                ErrCorrupt,
		`{"v":"1"}`:                         ErrCorrupt,
		`{"v":1,"perms":{"a":"999"}}`:       ErrCorrupt,
		`{"v":1,"perms":{"a":"77777"}}`:     ErrCorrupt,
		`{"v":1,"perm":{"file":"-1"}}`:      ErrCorrupt,
		`{"v":1,"empty":["a\u0000zz"]}`:     ErrCorrupt,
		`{"v":1,"perms":{"a\u0000":"600"}}`: ErrCorrupt,
		`{}`:                                ErrStore,
		`{"v":0}`:                           ErrStore,
		`{"v":3}`:                           ErrStore,
		`{"v":1,"partial":"time"}`:          ErrStore, // a whole checkpoint is never partial
		`{"v":2}`:                           ErrStore, // and a partial one says so
		`{"v":2,"partial":"moon"}`:          ErrStore,
	} {
		if m, err := DecodeMetadata(text); !errors.Is(err, want) {
			t.Errorf("%s: %+v, %v, want %v", text, m, err, want)
		} else if want == ErrStore && !strings.Contains(err.Error(), "use a newer cairn") {
			t.Errorf("%s: %v does not name the next step", text, err)
		}
	}
}

// Earlier releases wrote neither Rules nor escaped rule texts.
func TestDecodeMetadataOfEarlierReleases(t *testing.T) {
	t.Parallel()
	m, err := DecodeMetadata(`{"v":1,"perm":{"file":"644","exec":"755","dir":"755"},"ignore":{"sources":["a\u0000b"]}}`)
	if err != nil || m.Rules != nil || len(m.Ignore.Sources) != 1 || m.Ignore.Sources[0] != "a\x00b" {
		t.Errorf("%+v, %v", m, err)
	}
}

// The exceptions come first, then the usual bits of the kind.
func TestPermOf(t *testing.T) {
	t.Parallel()
	m := &Metadata{Perm: Permissions{File: 0o644, Exec: 0o755, Dir: 0o711}, Perms: PathPerms{"odd": 0o600}}
	for _, c := range []struct {
		path string
		mode object.Mode
		want uint16
	}{
		{"a", object.Regular, 0o644}, {"a", object.Executable, 0o755}, {"a", object.Dir, 0o711}, {"a", object.Symlink, 0o644},
		{"odd", object.Regular, 0o600}, {"odd", object.Dir, 0o600}, {"odd/below", object.Regular, 0o644},
	} {
		if got := m.PermOf(c.path, c.mode); got != c.want {
			t.Errorf("%s of mode %v: %o, want %o", c.path, c.mode, got, c.want)
		}
	}
}

// SetPerm keeps exceptions only: bits that have become usual again leave no entry, so equal
// states encode the same.
func TestSetPerm(t *testing.T) {
	t.Parallel()
	m := &Metadata{Perm: usualBits, Perms: PathPerms{"a": 0o600}}
	m.SetPerm("a", object.Regular, 0o644)
	m.SetPerm("b", object.Executable, 0o700)
	m.SetPerm("c", object.Dir, 0o755)
	if want := (PathPerms{"b": 0o700}); !maps.Equal(m.Perms, want) {
		t.Errorf("exceptions %v, want %v", m.Perms, want)
	}
}

// Paths that no capture records are refused, whatever list they stand in.
func TestCheckPaths(t *testing.T) {
	t.Parallel()
	bad := []string{"..", ".", "a/../b", "/a", "a/", "a//b", ".git", "a/.GIT", "git~1", ".git/config", "a/./b"}
	lists := map[string]func(path string) *Metadata{
		"perms": func(p string) *Metadata { return &Metadata{Perms: PathPerms{p: 0o600}} },
		"empty": func(p string) *Metadata { return &Metadata{Empty: []Path{Path(p)}} },
		"bare":  func(p string) *Metadata { return &Metadata{Bare: []Path{Path(p)}} },
		"texts": func(p string) *Metadata {
			return &Metadata{Rules: &ruleRecord{Texts: []ruleText{{In: []Path{Path(p)}}}}}
		},
		"unknown": func(p string) *Metadata { return &Metadata{Rules: &ruleRecord{Unknown: []Path{Path(p)}}} },
	}
	for name, with := range lists {
		for _, path := range bad {
			if err := with(path).CheckPaths(); err == nil {
				t.Errorf("%s: %q is accepted", name, path)
			}
		}
		if err := with("a/b.c").CheckPaths(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := with("").CheckPaths(); (err != nil) != (name == "perms") { // "" is the root, which has no exception
			t.Errorf("%s: the root is %v", name, err)
		}
	}
	skipped := func(p string) *Metadata { return &Metadata{Skipped: []Skipped{{Path: Path(p)}}} }
	seen := func(p string) *Metadata { return &Metadata{Seen: []Path{Path(p)}} }
	for _, path := range []string{"..", ".", "a/../b", "/a", "a//b"} {
		for _, m := range []*Metadata{skipped(path), seen(path)} {
			if err := m.CheckPaths(); err == nil {
				t.Errorf("%q is accepted: %+v", path, m)
			}
		}
	}
	if err := skipped("").CheckPaths(); err == nil {
		t.Error("the root is skipped")
	}
	// A name that no capture accepts is a reason to skip, and a caller may have named it.
	for _, m := range []*Metadata{skipped("a/.git"), seen("a/.git"), seen("git~1/x"), seen("")} {
		if err := m.CheckPaths(); err != nil {
			t.Errorf("%+v: %v", m, err)
		}
	}
}
