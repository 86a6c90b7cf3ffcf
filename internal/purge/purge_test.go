package purge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/odb/keep"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/statetest"
)

// purgeCase purges paths from the history of one line of states.
type purgeCase struct {
	name    string
	states  []files
	purge   []string
	want    []files            // what the states hold afterwards
	skipped []map[string]int64 // and list as purged, by size
	bare    []string           // directories of the last state without a captured path
	partial int                // checkpoints that became partial
}

var purgeCases = []purgeCase{
	{
		name:    "a file of some states",
		states:  []files{{"a": "1"}, {"a": "1", "key": "secret"}, {"a": "2", "key": "secret2"}},
		purge:   []string{"key"},
		want:    []files{{"a": "1"}, {"a": "1"}, {"a": "2"}},
		skipped: []map[string]int64{{}, {"key": 6}, {"key": 7}}, partial: 2,
	},
	{
		name:    "a directory with everything in it",
		states:  []files{{"d/e/one": "1", "d/e/f/two": "2", "d/x": "x", "de": "stays"}},
		purge:   []string{"d/e"},
		want:    []files{{"d/x": "x", "de": "stays"}},
		skipped: []map[string]int64{{"d/e": 0}}, partial: 1,
	},
	{
		name:    "a path below another one",
		states:  []files{{"d/e": "1", "d/f": "2", "a": "3"}},
		purge:   []string{"d/e", "d"},
		want:    []files{{"a": "3"}},
		skipped: []map[string]int64{{"d": 0}}, partial: 1,
	},
	{
		name:    "the last file of its directories",
		states:  []files{{"d/e/key": "secret", "d/x/y": "y"}, {"d/e/key": "secret"}},
		purge:   []string{"d/e/key"},
		want:    []files{{"d/x/y": "y"}, {}},
		skipped: []map[string]int64{{"d/e/key": 6}, {"d/e/key": 6}},
		bare:    []string{"d", "d/e"}, partial: 2,
	},
	{
		name:    "a name that is a pattern",
		states:  []files{{"odd *[name]": "secret", "odd x": "stays"}},
		purge:   []string{"odd *[name]"},
		want:    []files{{"odd x": "stays"}},
		skipped: []map[string]int64{{"odd *[name]": 6}}, partial: 1,
	},
}

func TestPurgeRewritesStates(t *testing.T) {
	t.Parallel()
	for _, c := range purgeCases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWritten(t)
			var old []*history.Checkpoint
			for _, f := range c.states {
				old = append(old, w.track(f))
			}
			got := w.purge(c.purge...)
			if len(got.Checkpoints) != c.partial || len(got.Elsewhere) > 0 || got.Freed <= 0 {
				t.Errorf("purged %+v, want %d partial checkpoints", got, c.partial)
			}
			for i, was := range old {
				w.wantContents(was.ID, c.want[i]) // old ids lead to what took their place
				w.wantContents(was.Hash, c.want[i])
				if skipped := w.skipped(was.ID); !maps.Equal(skipped, c.skipped[i]) {
					t.Errorf("state %d lists %v, want %v", i, skipped, c.skipped[i])
				}
			}
			for _, f := range c.states {
				for path, content := range f {
					if gone := state.NewPathScope(c.purge).Covers(path); w.holds(content) == gone {
						t.Errorf("the content of %s is there: %v", path, !gone)
					}
				}
			}
			w.wantBare(c.bare)
		})
	}
}

// wantBare checks the directories of the newest state that hold nothing captured.
func (w *written) wantBare(want []string) {
	w.Helper()
	c, err := w.Lookup(w.Context(), "@")
	if err != nil {
		w.Fatal(err)
	}
	m, err := history.MetadataOf(c)
	if err != nil {
		w.Fatal(err)
	}
	var bare []string
	for _, dir := range m.Bare {
		bare = append(bare, string(dir))
	}
	if slices.Sort(bare); !slices.Equal(bare, want) {
		w.Errorf("bare directories %q, want %q", bare, want)
	}
}

// A checkpoint without the path, and everything before it, keeps its id.
func TestPurgeLeavesOtherCheckpoints(t *testing.T) {
	t.Parallel()
	w := newWritten(t)
	before, with := w.track(files{"a": "1"}), w.track(files{"a": "1", "key": "secret"})
	after := w.track(files{"a": "2"})
	w.purge("key")
	for _, c := range []struct {
		was  *history.Checkpoint
		same bool
	}{{before, true}, {with, false}, {after, false}} { // the last one has another parent
		now, err := w.Lookup(t.Context(), c.was.ID)
		if err != nil || (now.ID == c.was.ID) != c.same {
			t.Errorf("%+v is %+v, %v", c.was, now, err)
		}
	}
	if now, err := w.Lookup(t.Context(), after.Hash); err != nil || now.Hash != after.Hash {
		t.Errorf("a tree without the path is %+v, %v", now, err)
	}
}

// Contents that another path holds, too, stay and are named.
func TestPurgeSaysWhatIsLeft(t *testing.T) {
	t.Parallel()
	w := newWritten(t)
	w.track(files{"a": "secret", "copy": "secret"})
	if got := w.purge("a"); !slices.Equal(got.Elsewhere, []string{object.Sum(object.Blob, []byte("secret")).String()}) || !w.holds("secret") {
		t.Errorf("purged %+v; the copy still holds the same", got)
	}
	if got := w.purge("copy"); len(got.Elsewhere) != 0 || w.holds("secret") {
		t.Errorf("purged %+v", got)
	}
}

// TestPurgeAfterACapture: a purge was interrupted, and a capture has kept objects of git since. What the purge
// then drops is not kept either.
func TestPurgeAfterACapture(t *testing.T) {
	t.Parallel()
	gittest.NeedGit(t)
	w := newWritten(t)
	w.track(files{"a": "1"})
	hex := strings.TrimSpace(gittest.Bare(t, w.DB.Dir(), "secret", "hash-object", "-w", "--stdin"))
	_, err := w.Vault().Keep(t.Context(), nil, keep.Options{Beside: filepath.Join(w.DB.Dir(), "objects")})
	if err = errors.Join(err, w.Locked(t.Context(), func(l *history.Locked) error { return w.setUnfinished(l, true) })); err != nil {
		t.Fatal(err)
	}
	w.purge("gone")
	left, err := filepath.Glob(filepath.Join(w.Vault().Dir(), "objects", hex[:2], hex[2:]))
	if err != nil || len(left) > 0 || w.holds("secret") {
		t.Errorf("%q is left, %v", left, err)
	}
}

func TestPurgeRefuses(t *testing.T) {
	t.Parallel()
	w := newWritten(t)
	was := w.track(files{"a": "1"})
	for _, path := range []string{"", ".", w.Root, "..", "../x", filepath.Dir(w.Root)} {
		if _, err := w.Purge(t.Context(), []string{path}); !errors.Is(err, state.ErrOutside) {
			t.Errorf("%q: %v", path, err)
		}
	}
	for _, paths := range [][]string{{"b"}, {"a/b"}, nil} {
		if _, err := w.Purge(t.Context(), paths); !errors.Is(err, state.ErrNotFound) {
			t.Errorf("%q: %v", paths, err)
		}
	}
	w.wantContents(was.ID, files{"a": "1"})
	if list := w.purged(); len(list) > 0 {
		t.Errorf("purged paths %q", list)
	}
}

// TestPurgeOfGarbage: contents that only garbage holds, such as those of a deleted session, go with a purge of a path
// that no checkpoint holds, and with one of secrets that finds none.
func TestPurgeOfGarbage(t *testing.T) {
	t.Parallel()
	for _, secrets := range []bool{false, true} {
		w := newWritten(t)
		kept := w.track(files{"a": "1"})
		e, err := w.EntryOrNil(history.TreeOf(w.track(files{"a": "1", "key": "secret"})), "key")
		if err == nil {
			err = w.DB.SetRef(w.Today(), history.IDOf(kept))
		}
		if err != nil {
			t.Fatal(err)
		}
		if there, err := w.DB.Has(e.ID); err != nil || !there {
			t.Fatalf("before the purge: %v, %v", there, err)
		}
		if secrets {
			done, err := w.PurgeSecrets(t.Context(), PurgeSecretsOptions{})
			if err != nil || done.Freed == 0 {
				t.Errorf("%+v, %v", done, err)
			}
		} else if _, err := w.Purge(t.Context(), []string{"key"}); !errors.Is(err, state.ErrNotFound) || !strings.Contains(err.Error(), "of contents that no checkpoint needs are gone now") {
			t.Error(err)
		}
		if there, err := w.DB.Has(e.ID); err != nil || there {
			t.Errorf("secrets %v: the contents are still stored: %v", secrets, err)
		}
		w.wantContents(kept.ID, files{"a": "1"})
	}
}

// Every ref is rewritten: lines, pins, sessions, imports, lines of other stores, and refs to
// trees.
func TestPurgeRewritesEveryRef(t *testing.T) {
	t.Parallel()
	w := newWritten(t)
	c := w.track(files{"a": "1", "key": "secret"})
	commits := []string{history.RefPins + "p", history.RefSessions + "s", history.RefImported + c.ID, history.RefRemotes + "0123456789abcdef/x", history.RefBefore, history.RefLost + "l"}
	trees := []string{history.RefDisk, history.RefHeld}
	for _, ref := range commits {
		setRef(w, ref, history.IDOf(c))
	}
	for _, ref := range trees {
		setRef(w, ref, history.TreeOf(c))
	}
	w.purge("key")
	if w.holds("secret") {
		t.Error("the secret is still stored")
	}
	now, err := w.Lookup(t.Context(), "@")
	if err != nil {
		t.Fatal(err)
	}
	for _, ref := range commits {
		if id, err := w.DB.Ref(ref); err != nil || id != history.IDOf(now) {
			t.Errorf("%s leads to %s, %v, want %s", ref, id, err, now.ID)
		}
	}
	for _, ref := range trees {
		if id, err := w.DB.Ref(ref); err == nil && id != history.TreeOf(now) {
			t.Errorf("%s leads to %s, want %s", ref, id, now.Hash)
		}
	}
}

func setRef(w *written, ref string, id object.ID) {
	w.Helper()
	if err := w.DB.SetRef(ref, id); err != nil {
		w.Fatal(err)
	}
}

// The ids in the headers of operations and sessions, and in a journal, are those of the new
// commits.
func TestPurgeRewritesMentions(t *testing.T) {
	t.Parallel()
	w := newWritten(t)
	before, after := w.track(files{"key": "secret"}), w.track(files{"key": "secret", "a": "1"})
	record := fmt.Sprintf(`{"v":1,"kind":"restore","before":%q,"after":%q,"target":%q}`, before.ID, after.ID, strings.Repeat("e", 40))
	batch := w.DB.NewBatch()
	defer batch.Discard()
	id, err := history.AddCommit(batch, history.CommitRequest{
		Tree: history.TreeOf(after), Meta: history.CommitOf(after).Header(state.MetadataHeader), When: after.When, Message: "restore",
		Parents: []object.ID{history.IDOf(before), history.IDOf(after)}, Extra: []object.Header{{Key: history.OperationHeader, Value: record}},
	})
	if err := errors.Join(err, batch.Commit(), w.DB.SetRef(history.RefOperations, id), w.DB.WriteJournal("other", []byte("to "+after.Hash+" of "+before.ID+"\n"), nil)); err != nil {
		t.Fatal(err)
	}
	w.purge("key")
	newBefore, newAfter := w.now(before.ID), w.now(after.ID)
	for op, err := range w.Operations(t.Context()) {
		if err != nil || op.Before != newBefore.ID || op.After != newAfter.ID || op.Target != strings.Repeat("e", 40) {
			t.Errorf("operation %+v, %v; want %s and %s", op, err, newBefore.ID, newAfter.ID)
		}
	}
	journals, err := w.DB.Journals()
	if want := "to " + newAfter.Hash + " of " + newBefore.ID + "\n"; err != nil || len(journals) != 1 || string(journals[0].Data) != want {
		t.Errorf("journals %+v, %v, want %q", journals, err, want)
	}
}

// now returns what took the place of a checkpoint.
func (w *written) now(id string) *history.Checkpoint {
	w.Helper()
	c, err := w.Lookup(w.Context(), id)
	if err != nil || c.ID == id {
		w.Fatalf("%s is %+v, %v", id, c, err)
	}
	return c
}

// A purge that cannot rewrite everything changes nothing: a ref that it left out would keep the
// secret.
func TestPurgeOfADamagedStore(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(w *written, c *history.Checkpoint){
		"a lost commit": func(w *written, _ *history.Checkpoint) {
			setRef(w, history.RefPins+"lost", object.Sum(object.Commit, []byte("lost")))
		},
		"a lost tree": func(w *written, c *history.Checkpoint) {
			s := statetest.NewState(w, w.Store, nil)
			s.Tree = object.Sum(object.Tree, []byte("lost"))
			statetest.Append(w, w.Store, history.RefSessions+"s", s, history.StateLabel{})
		},
		"metadata of a later release": func(w *written, c *history.Checkpoint) {
			batch := w.DB.NewBatch()
			defer batch.Discard()
			id, err := history.AddCommit(batch, history.CommitRequest{
				Tree: history.TreeOf(c), Meta: `{"v":3}`, Message: "later", When: w.Now(), Author: object.Signature{Name: "user", Email: "cairn@localhost"},
			})
			if err := errors.Join(err, batch.Commit()); err != nil {
				w.Fatal(err)
			}
			setRef(w, history.RefPins+"later", id)
		},
	} {
		w := newWritten(t)
		c := w.track(files{"key": "secret"})
		damage(w, c)
		if got, err := w.Purge(t.Context(), []string{"key"}); err == nil {
			t.Errorf("%s: purged %+v", name, got)
		}
		if now, err := w.Lookup(t.Context(), c.ID); err != nil || now.ID != c.ID || !w.holds("secret") {
			t.Errorf("%s: the checkpoint is %+v, %v", name, now, err)
		}
	}
}

// TestPurgeThatIsInterrupted: a call that ends before its time is no damage, so its error names no
// repair.
func TestPurgeThatIsInterrupted(t *testing.T) {
	t.Parallel()
	w := newWritten(t)
	w.track(files{"a": "a"})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, paths := w.Purge(ctx, []string{"a"})
	_, secrets := w.PurgeSecrets(ctx, PurgeSecretsOptions{})
	for _, err := range []error{paths, secrets} {
		if !errors.Is(err, context.Canceled) || strings.Contains(err.Error(), "doctor") {
			t.Errorf("%v", err)
		}
	}
}

// The id of a state that a purge has rewritten is that of the state itself once a checkpoint has it again.
func TestPurgedStateThatComesBack(t *testing.T) {
	t.Parallel()
	w := newWritten(t)
	all := files{"a": "1", "key": "secret"}
	c := w.track(all)
	w.purge("key")
	if err := w.Unpurge(t.Context(), []string{"key"}); err != nil {
		t.Fatal(err)
	}
	w.track(files{"a": "2"})
	w.wantContents(c.Hash, files{"a": "1"})
	again := w.track(all)
	w.track(files{"a": "3"})
	w.wantContents(c.Hash, all)
	w.wantContents(again.ID, all)
	if now := w.now(c.ID); now.ID == again.ID {
		t.Errorf("%s is the later checkpoint", c.ID)
	}
	w.purge("key")
	w.wantContents(c.Hash, files{"a": "1"})
}

// Purged paths are listed, added to, and allowed again one by one.
func TestPurgedPaths(t *testing.T) {
	t.Parallel()
	w := newWritten(t)
	w.track(files{"a\xff": "1", "b": "2", "c": "3"})
	w.purge("c")
	w.purge("b", "a\xff", "b")
	if list := w.purged(); !slices.Equal(list, []string{"a\xff", "b", "c"}) {
		t.Errorf("purged paths %q", list)
	}
	if err := w.Unpurge(w.Context(), []string{"b", "x"}); !errors.Is(err, state.ErrNotFound) {
		t.Errorf("unpurge of a path that was not purged: %v", err)
	}
	if err := w.Unpurge(w.Context(), []string{"a\xff", filepath.Join(w.Root, "b")}); err != nil {
		t.Fatal(err)
	}
	if list := w.purged(); !slices.Equal(list, []string{"c"}) {
		t.Errorf("purged paths %q", list)
	}
	data, err := w.DB.ReadPrivate(odb.PrivatePurged)
	var texts []string
	if err := errors.Join(err, json.Unmarshal(data, &texts)); err != nil || !slices.Equal(texts, []string{"c"}) {
		t.Errorf("the file holds %q, %v", data, err)
	}
}

// Ids are replaced wherever they stand as 40 digits, and the first error ends it.
func TestReplaceIDs(t *testing.T) {
	t.Parallel()
	old, now := object.Sum(object.Blob, []byte("old")), object.Sum(object.Blob, []byte("now"))
	replace := func(id object.ID) (object.ID, error) {
		if id == old {
			return now, nil
		}
		return id, nil
	}
	other := strings.Repeat("1", 40)
	for text, want := range map[string]string{
		"":                                 "",
		old.String():                       now.String(),
		`{"a":"` + old.String() + `"}`:     `{"a":"` + now.String() + `"}`,
		other + " " + old.String():         other + " " + now.String(),
		old.String()[:39]:                  old.String()[:39],
		strings.ToUpper(old.String()):      strings.ToUpper(old.String()),
		old.String() + "\n" + old.String(): now.String() + "\n" + now.String(),
	} {
		if got, err := ReplaceIDs(text, replace); err != nil || got != want {
			t.Errorf("%q becomes %q, %v, want %q", text, got, err, want)
		}
	}
	broken, calls := errors.New("broken"), 0
	_, err := ReplaceIDs(other+old.String(), func(object.ID) (object.ID, error) { calls++; return object.ID{}, broken })
	if !errors.Is(err, broken) || calls != 1 {
		t.Errorf("%v after %d calls", err, calls)
	}
}
