package transfer

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
)

// movingHook moves the notes on a remote once, as another push does that ends at the same time.
const movingHook = `#!/bin/sh
test -e moved && exit 0
: >moved
unset GIT_QUARANTINE_PATH GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES
id=$(echo '{}' | git hash-object -w --stdin)
git for-each-ref --format='%(refname)' refs/cairn/about | while read -r ref; do git update-ref "$ref" "$id"; done
`

// TestPushBesideAnother: a ref that another push of the store moves at the same time is sent again.
func TestPushBesideAnother(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	dir := bareRepository(t, o)
	f := newMachine(t)
	f.track(map[string]string{"a": "1\n"})
	f.push(dir)
	f.session("s", "Paint it", 5, map[string]string{"a": "2\n"})
	gittest.Create(t, filepath.Join(dir, "hooks"), gittest.Tree{"pre-receive": gittest.Exec(movingHook)})
	if pushed := f.push(dir); len(pushed) != 1 || pushed[0] != "sessions/s" {
		t.Errorf("pushed %q", pushed)
	}
	if _, err := os.Stat(filepath.Join(dir, "moved")); err != nil {
		t.Fatal(err)
	}
	list, err := f.ListRemote(t.Context(), dir, false)
	if err != nil || len(list) != 1 || len(list[0].Stores[0].Sessions) != 1 {
		t.Errorf("list %+v, %v", list, err)
	}
}

// tidyingHook lets files lie once where directories of objects will be, as if those went in the midst of a push.
const tidyingHook = `#!/bin/sh
if test -e tidied; then
	find objects -maxdepth 1 -type f -delete
	exit 0
fi
: >tidied
for dir in "$GIT_QUARANTINE_PATH"/??; do
	there=objects/$(basename "$dir")
	test -e "$there" || : >"$there"
done
`

// TestPushBesideTidying: what a receiving git could not keep is sent again.
func TestPushBesideTidying(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	dir := bareRepository(t, o)
	f := newMachine(t)
	f.track(map[string]string{"a": "1\n"})
	f.push(dir)
	tip := f.track(map[string]string{"a": "2\n"})
	gittest.Create(t, filepath.Join(dir, "hooks"), gittest.Tree{"pre-receive": gittest.Exec(tidyingHook)})
	if pushed := f.push(dir); len(pushed) != 1 {
		t.Errorf("pushed %q", pushed)
	}
	if _, err := os.Stat(filepath.Join(dir, "tidied")); err != nil {
		t.Fatal(err)
	}
	if refs := refsOf(o, dir); !strings.Contains(refs, tip.ID) {
		t.Errorf("refs\n%s", refs)
	}
}

// TestSealedPushBesideTidying: so it is where lines are sealed.
func TestSealedPushBesideTidying(t *testing.T) {
	t.Parallel()
	_, k, remote, f := sealedMachine(t)
	f.pushes(remote, "1\n")
	gittest.Create(t, filepath.Join(remote, "hooks"), gittest.Tree{"pre-receive": gittest.Exec(tidyingHook)})
	second := f.pushes(remote, "2\n")
	if _, err := os.Stat(filepath.Join(remote, "tidied")); err != nil {
		t.Fatal(err)
	}
	g := f.other().sealsFor(k)
	g.fetch(remote)
	g.has(f, second)
}

// TestPushOvertaken: a push that ends after a later one of the same store gives no line a second name.
func TestPushOvertaken(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	dir := bareRepository(t, o)
	f := newMachine(t)
	f.track(map[string]string{"a": "1\n"})
	m, err := f.open(dir)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := f.ownLines()
	if err != nil {
		t.Fatal(err)
	}
	now := f.track(map[string]string{"a": "2\n"})
	f.push(dir)
	pushed, err := f.pushOpen(t.Context(), m, lines, func(odb.Ref) bool { return true })
	if err != nil || len(pushed) > 0 {
		t.Errorf("pushed %q, %v", pushed, err)
	}
	day := strings.TrimPrefix(f.Today(), history.RefRoot)
	if refs := refsOf(o, dir); strings.Contains(refs, day+"-") || !strings.Contains(refs, day+" "+now.ID) {
		t.Errorf("refs\n%s", refs)
	}
}

// TestSyncBesideDamage: a line that cannot be read is not pushed, and Sync does not wait for it.
func TestSyncBesideDamage(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	f := newMachine(t)
	f.Opt.Sync = bareRepository(t, o)
	f.track(map[string]string{"a": "1\n"})
	lost := filepath.Join(f.DB.Dir(), "refs", "cairn", "tracks", "lost")
	if err := os.WriteFile(lost, []byte(strings.Repeat("1", 40)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	const many = 100
	asked := 0
	f.Now = func() time.Time { // each look and each push asks
		if asked++; asked == many {
			cancel()
		}
		return time.Now()
	}
	if pushed, err := f.Sync(ctx); err != nil || len(pushed) != 1 || asked >= many {
		t.Errorf("pushed %q, %v; it has looked at the clock %d times", pushed, err, asked)
	}
	if s := f.status(); s.Behind != 0 || s.Failures != 0 {
		t.Errorf("status %+v", s)
	}
}
