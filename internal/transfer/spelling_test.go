package transfer

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

func TestPlainRemote(t *testing.T) {
	t.Parallel()
	for _, same := range [][]string{
		{"https://h/a/x", "https://h/a/x.git", "https://h/a/x/", "https://h/a/x.git/", "https://H:443/a/x", "HTTPS://h/a//x"},
		{"https://me@h/x", "https://me:pw@h/x", "https://me:other@h/x.git"},
		{"ssh://git@h/x", "ssh://git@h:22/x.git", "git+ssh://git@h/x", "git@h:/x", "git@h:/x.git"},
		{"git@h:team/x", "git@h:team/x.git", "git@H:team/x/"},
		{"git://h/x", "git://h:9418/x/"},
		{filepath.FromSlash("/srv/x"), filepath.FromSlash("/srv/x/"), "file:///srv/x", "file:///srv/y/../x/"},
	} {
		for _, where := range same {
			if got, want := plainRemote(where), plainRemote(same[0]); got != want {
				t.Errorf("%s is %s, want %s", where, got, want)
			}
		}
	}
	apart := []string{
		"https://h/x", "http://h/x", "https://h:8443/x", "https://h/X", "https://i/x", "https://you@h/x", "ssh://h/x", "git://h/x",
		"h:x", "h:~/x", "you@h:x", "You@h:x", "ssh://You@h/x", "ssh://you@h/x", "/srv/x", "/srv/x.git", "/srv/X", "file://host/srv/x", "https://h/x?y", "%zz:x", "", "https://",
		"ssh://git@h:team/x", "https://h:team/x", "https://h/50%/x", "h:/50%/x", "https://me:50%@h/x", // that are no URLs for net/url
	}
	for i, a := range apart {
		for _, b := range apart[:i] {
			if plainRemote(a) == plainRemote(b) {
				t.Errorf("%q and %q are one remote: %s", a, b, plainRemote(a))
			}
		}
	}
}

// TestSpellingsAreOneRemote: what a store knows of a remote counts for another spelling of it, and a store that knows
// two spellings keeps both.
func TestSpellingsAreOneRemote(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	dir := bareRepository(t, o)
	f := newMachine(t)
	f.track(map[string]string{"a": "1\n"})
	f.Opt.Encrypt = []string{newKey(t).recipient}
	f.push(dir)
	f.Opt.Encrypt = nil
	f.track(map[string]string{"a": "2\n"})
	f.push("file://" + filepath.ToSlash(dir) + "/")
	if list := refsOf(o, dir); strings.Count(list, "\n") != strings.Count(list, "refs/cairn/sealed/")+strings.Count(list, "refs/cairn/parts/") {
		t.Errorf("a push to another spelling is open:\n%s", list)
	}
	if all := f.standings(); len(all) != 1 {
		t.Errorf("%d remotes are known", len(all))
	}
	if s := f.status(); s == nil || s.Behind != 0 || s.Sealed != 1 {
		t.Errorf("status %+v", s)
	}
	two := map[string]int{"https://h/x": 1, "https://h/x.git": 2}
	never := func(int) bool { return false }
	for where, want := range map[string]string{
		"https://h/x": "https://h/x", "https://h/x.git": "https://h/x.git", "https://h/x/": "https://h/x", "https://h/y": "https://h/y",
	} {
		if got := spelled(two, where, never); got != want {
			t.Errorf("%s is known as %s, want %s", where, got, want)
		}
	}
	if got := spelled(two, "https://h/x/", func(n int) bool { return n == 2 }); got != "https://h/x.git" {
		t.Errorf("the better spelling is %s", got)
	}
}
