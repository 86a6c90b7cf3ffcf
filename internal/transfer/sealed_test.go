package transfer

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/sealed"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/statetest"
)

// key is a pair of keys, and the file of the private one.
type key struct{ recipient, file string }

func newKey(t testing.TB) key {
	t.Helper()
	id, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "key.txt")
	if err := os.WriteFile(file, []byte(id.String()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return key{id.Recipient().String(), file}
}

// sealsFor makes the machine push for keys, and read with the first.
func (m *machine) sealsFor(keys ...key) *machine {
	m.Opt.Encrypt, m.Opt.Identity = nil, keys[0].file
	for _, k := range keys {
		m.Opt.Encrypt = append(m.Opt.Encrypt, k.recipient)
	}
	return m
}

// sealedMachine returns a machine that seals for a key, and the remote that it pushes to.
func sealedMachine(t *testing.T) (o *gittest.Oracle, k key, remote string, m *machine) {
	t.Helper()
	o, k = gittest.NewOracle(t), newKey(t)
	return o, k, bareRepository(t, o), newMachine(t).sealsFor(k)
}

// pushes takes a checkpoint of one file and pushes it.
func (m *machine) pushes(remote, text string) *history.Checkpoint {
	m.Helper()
	c := m.track(map[string]string{"a": text})
	m.push(remote)
	return c
}

// has fails unless the machine has checkpoints with their files.
func (m *machine) has(from *machine, checkpoints ...*history.Checkpoint) {
	m.Helper()
	for _, c := range checkpoints {
		if _, err := m.Lookup(m.Context(), c.ID); err != nil {
			m.Error(err)
			continue
		}
		if got, want := statetest.Contents(m, m.Store, c.ID), statetest.Contents(m, from.Store, c.ID); fmt.Sprint(got) != fmt.Sprint(want) {
			m.Errorf("checkpoint %s has %v, want %v", c.ID, got, want)
		}
	}
}

// everyByte is what an observer of a remote sees: the names of refs and files, and every object, unpacked.
func everyByte(t *testing.T, o *gittest.Oracle, dir string) []byte {
	t.Helper()
	var all bytes.Buffer
	all.WriteString(refsOf(o, dir))
	list := o.In(dir, "cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objecttype)")
	for line := range strings.Lines(list) {
		id, kind, _ := strings.Cut(strings.TrimSpace(line), " ")
		all.WriteString(o.In(dir, "cat-file", kind, id))
	}
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		all.WriteString(strings.TrimPrefix(path, dir))
		all.Write(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.Bytes()
}

// TestSealedRoundTrip: what one machine sealed, another opens at another path: lines, sessions, machines. A
// second fetch and a second push move nothing.
func TestSealedRoundTrip(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	o, k := gittest.NewOracle(t), newKey(t)
	source, remote := sourceRepository(t, o), bareRepository(t, o)
	ada, bob := cloneOf(t, o, source, "ada").sealsFor(k), cloneOf(t, o, source, "bob").sealsFor(k)
	c := ada.track(map[string]string{"a": "1\n", "dir/b": strings.Repeat("content\n", 1000)})
	s := ada.session("s-1", "Fix the login", 5, map[string]string{"a": "2\n"})
	ada.pin("@", "p")
	if pushed := ada.push(remote); len(pushed) != 3 {
		t.Errorf("pushed %q", pushed)
	}
	if pushed := ada.push(remote); len(pushed) != 0 {
		t.Errorf("pushed again %q", pushed)
	}
	bob.fetch(remote)
	bob.has(ada, c, s)
	before := bob.listing()
	bob.fetch(remote)
	bob.same(before, "a second fetch")
	machines, err := bob.Machines()
	store, _ := ada.DB.Identity(false)
	if want := (history.Machine{Machine: "host-of-ada", User: "ada", Root: state.Path(ada.Root)}); err != nil || machines[store] != want {
		t.Errorf("machines %v, %v", machines, err)
	}
	for i := range 5 { // thin parts
		c = ada.track(map[string]string{"a": fmt.Sprint(i), "dir/b": strings.Repeat("content\n", 1000+i)})
		ada.push(remote)
		if i%2 == 0 {
			bob.fetch(remote)
		}
	}
	bob.has(ada, c)
	o.In(remote, "fsck", "--strict")
	o.In(bob.DB.Dir(), "fsck", "--strict", "--full")
	late := cloneOf(t, o, source, "late").sealsFor(k)
	late.fetch(remote)
	late.has(ada, c, s)
}

// TestSealedShowsNothing: no byte of a path, a content, a prompt or a name is readable in what left.
func TestSealedShowsNothing(t *testing.T) {
	t.Parallel()
	o, k := gittest.NewOracle(t), newKey(t)
	source, remote, open := sourceRepository(t, o), bareRepository(t, o), bareRepository(t, o)
	ada := cloneOf(t, o, source, "adalovelace")
	if err := ada.SetProjectID(t.Context(), "analyticalengine"); err != nil {
		t.Fatal(err)
	}
	c := ada.session("session-name", "Compute-the-Bernoulli-numbers", 5, map[string]string{"directoryname/filename.go": "the-content-of-a-file\n", "other": "x\n"})
	ada.pin(c.ID, "nameofapin")
	store, err := ada.DB.Identity(true)
	if err != nil {
		t.Fatal(err)
	}
	project, _, err := ada.Project(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	names := []string{
		"directoryname", "filename.go", "the-content-of-a-file", "Bernoulli", "session-name", "nameofapin", "adalovelace", "analyticalengine",
		store, project.Key(ada.Root), c.ID, c.Hash, "tree ", "robot", filepath.Base(ada.Root), "sessions",
	}
	ada.push(open)
	seen := everyByte(t, o, open)
	for _, name := range names {
		if !bytes.Contains(seen, []byte(name)) {
			t.Errorf("the search does not find %q in an open push", name)
		}
	}
	ada.sealsFor(k).push(remote)
	ada.track(map[string]string{"directoryname/filename.go": "the-content-of-a-file\nmore\n"})
	ada.push(remote)
	seen = everyByte(t, o, remote)
	for _, name := range names {
		if bytes.Contains(seen, []byte(name)) {
			t.Errorf("%q is readable on the remote", name)
		}
	}
	if n := strings.Count(refsOf(o, remote), "\n"); n != 3 {
		t.Errorf("%d refs, want a note and two parts", n)
	}
}

// TestSealedKeys: without a key nothing comes, and the error says what helps. Each of several recipients opens all.
func TestSealedKeys(t *testing.T) {
	t.Parallel()
	o, k, second, other := gittest.NewOracle(t), newKey(t), newKey(t), newKey(t)
	remote := bareRepository(t, o)
	f := newMachine(t).sealsFor(k, second)
	c := f.pushes(remote, "1\n")
	g := f.other()
	before := g.listing()
	for why, test := range map[string]struct{ identity, want string }{
		"no key":      {"", "--identity FILE"},
		"another key": {other.file, "nothing of them can be read"},
		"no file":     {filepath.Join(t.TempDir(), "absent"), "absent"},
		"no identity": {filepath.Join(remote, "HEAD"), "no identity of age"},
	} {
		g.Opt.Identity = test.identity
		_, err := g.Fetch(t.Context(), remote)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", why, err, test.want)
		}
		g.same(before, why)
	}
	g.Opt.Identity, g.Opt.Sealer = k.file, nil
	if _, err := g.Fetch(t.Context(), remote); err == nil || !strings.Contains(err.Error(), errNoSealer.Error()) {
		t.Errorf("without a Sealer: %v", err)
	}
	g.same(before, "without a Sealer")
	f.Opt.Sealer = nil
	if _, err := f.Push(t.Context(), remote); !errors.Is(err, errNoSealer) {
		t.Errorf("a push without a Sealer: %v", err)
	}
	f.Opt.Sealer = sealed.Age{}
	g.Opt.Identity = ""
	if list, err := g.ListRemote(t.Context(), remote, false); err != nil || len(list) != 0 {
		t.Errorf("lists %v, %v without a key", list, err)
	}
	for _, k := range []key{k, second} {
		g := f.other()
		g.Opt.Identity = k.file
		g.fetch(remote)
		g.has(f, c)
	}
}

// refsBelow lists names and ids of refs on a remote.
func refsBelow(o *gittest.Oracle, dir, prefix string) (names, ids []string) {
	for line := range strings.Lines(o.In(dir, "for-each-ref", "--format=%(refname) %(objectname)", prefix)) {
		name, id, _ := strings.Cut(strings.TrimSpace(line), " ")
		names, ids = append(names, name), append(ids, id)
	}
	return names, ids
}

// TestSealedSync: the setting seals what goes in the background, and changing it counts as not pushed.
func TestSealedSync(t *testing.T) {
	t.Parallel()
	o, k := gittest.NewOracle(t), newKey(t)
	remote := bareRepository(t, o)
	f := newMachine(t)
	f.Opt.Sync = remote
	f.track(map[string]string{"a": "1\n"})
	f.sync()
	f.sealsFor(k)
	if s := f.status(); s.Behind != 1 {
		t.Errorf("status %+v: nothing was sealed yet", s)
	}
	if pushed := f.sync(); len(pushed) != 1 {
		t.Errorf("pushed %q", pushed)
	}
	if pushed := f.sync(); len(pushed) != 0 {
		t.Errorf("pushed again %q", pushed)
	}
	c := f.track(map[string]string{"a": "2\n"})
	f.Opt.Sync += "/"
	f.sync()
	if s := f.status(); s.Behind != 0 || s.Sealed != 1 || s.Error != "" {
		t.Errorf("status %+v", s)
	}
	g := f.other().sealsFor(k)
	g.fetch(remote)
	g.has(f, c)
}

// TestSealedSession: one session comes alone, by its id; and the list shows what is there.
func TestSealedSession(t *testing.T) {
	t.Parallel()
	o, k := gittest.NewOracle(t), newKey(t)
	source, remote := sourceRepository(t, o), bareRepository(t, o)
	ada, bob := cloneOf(t, o, source, "ada").sealsFor(k), cloneOf(t, o, source, "bob").sealsFor(k)
	one := ada.session("one", "First", 5, map[string]string{"a": "1\n"})
	ada.push(remote)
	two := ada.session("two", "Second", 6, map[string]string{"a": "2\n"})
	ada.push(remote)
	list, err := bob.ListRemote(t.Context(), remote, false)
	if err != nil || len(list) != 1 || len(list[0].Stores) != 1 || len(list[0].Stores[0].Sessions) != 2 || list[0].Stores[0].User != "ada" {
		t.Fatalf("list %+v, %v", list, err)
	}
	if id, _, err := bob.FetchSession(t.Context(), remote, "on"); id != "one" || err != nil {
		t.Errorf("fetched %q, %v", id, err)
	}
	bob.has(ada, one)
	if _, err := bob.Lookup(t.Context(), two.ID); err == nil {
		t.Error("the other session has come, too")
	}
	if id, _, err := bob.FetchSession(t.Context(), remote, "@"); id != "two" || err != nil {
		t.Errorf("fetched %q, %v", id, err)
	}
	bob.has(ada, one, two)
	if _, err := bob.FetchProject(t.Context(), remote, list[0].Key); err != nil {
		t.Error(err)
	}
}
