package transfer

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

func TestReceivePack(t *testing.T) {
	const own, other = "00000000000000ab", "00000000000000cd"
	local := &remote{url: "/there", shown: []string{"refs/cairn/id-shop/" + other}}
	specs := []string{
		"+id:refs/cairn/about/id-shop/" + own, "id:refs/cairn/id-shop/" + own + "/sessions/s",
		"id:refs/cairn/id-shop/" + own + "/tracks/2026-01-01", "+id:refs/cairn/signatures/id-shop/" + own + "/sessions/s",
	}
	want := "--receive-pack=git -c 'core.alternateRefsPrefixes=refs/cairn/about/id-shop/" + own + " refs/cairn/id-shop/" + own +
		" refs/cairn/id-shop/" + other + " refs/cairn/signatures/id-shop/" + own + "' -c receive.hideRefs=refs/" +
		" -c 'receive.hideRefs=!refs/cairn/about/id-shop/" + own + "'" +
		" -c 'receive.hideRefs=!refs/cairn/id-shop/" + own + "'" +
		" -c 'receive.hideRefs=!refs/cairn/id-shop/" + other + "'" +
		" -c 'receive.hideRefs=!refs/cairn/signatures/id-shop/" + own + "' receive-pack"
	if got := local.receivePack(specs); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := local.receivePack([]string{"id:refs/cairn/parts/aa/bb", ":refs/cairn/parts/aa/cc"}); strings.Count(got, "!") != 2 {
		t.Errorf("sealed parts: %s", got)
	}
	for _, spec := range []string{"id:refs/cairn/a'b/c", "id:refs/cairn/$(x)/c", "id:", "id"} {
		if got := local.receivePack([]string{spec}); got != "" {
			t.Errorf("%q: %s", spec, got)
		}
	}
	for _, url := range []string{"ssh://h/there", "h:there", "https://h/there", "git://h/there"} {
		if got := (&remote{url: url}).receivePack(specs); got != "" {
			t.Errorf("%s: %s", url, got)
		}
	}
	if got := (&remote{url: "file:///there"}).receivePack(specs); got == "" {
		t.Error("a file URL: nothing is hidden")
	}
}

// TestPushHidesOtherStores: a receiving git by path shows no ref of a store that is not known here, and those of
// a store that was fetched.
func TestPushHidesOtherStores(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the hook is a script for a shell")
	}
	o := gittest.NewOracle(t)
	dir := bareRepository(t, o)
	f := newMachine(t)
	f.track(map[string]string{"a": "1\n"})
	f.push(dir)
	out := filepath.Join(t.TempDir(), "hidden")
	hook := "#!/bin/sh\ngit config --get-all receive.hideRefs >'" + out + "'\n"
	gittest.Create(t, dir, gittest.Tree{"hooks": gittest.Dir(), "hooks/pre-receive": gittest.Exec(hook)})
	store := func(m *machine) string {
		id, err := m.DB.Identity(false)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	hidden := func() string {
		data, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	g := f.other()
	g.track(map[string]string{"a": "2\n"})
	g.push(dir)
	if text := hidden(); !strings.Contains(text, "refs/\n") || !strings.Contains(text, store(g)) || strings.Contains(text, store(f)) {
		t.Errorf("before a fetch:\n%s", text)
	}
	g.fetch(dir)
	g.track(map[string]string{"a": "3\n"})
	g.push(dir)
	if text := hidden(); !strings.Contains(text, store(g)) || !strings.Contains(text, store(f)) {
		t.Errorf("after a fetch:\n%s", text)
	}
	if refs := refsOf(o, dir); !strings.Contains(refs, store(f)+"/tracks") || !strings.Contains(refs, store(g)+"/tracks") {
		t.Errorf("refs:\n%s", refs)
	}
}
