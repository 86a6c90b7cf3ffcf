package cairn_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// madeToken is put together at run time, so that no scanner finds it in the source.
func madeToken(last string) string {
	return strings.Join([]string{"ghp", "_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r", last}, "")
}

// guarded is a project with a policy for secrets.
type guarded struct {
	T          *testing.T
	root, data string
	opt        cairn.Options
	*cairn.Repo
}

func newGuarded(t *testing.T, policy cairn.SecretsPolicy) *guarded {
	t.Helper()
	g := &guarded{T: t, root: t.TempDir(), data: t.TempDir()}
	g.opt = cairn.Options{Root: g.root, DataDir: g.data, Secrets: policy}
	g.reopen()
	return g
}

// reopen goes on as another process would.
func (g *guarded) reopen() {
	g.T.Helper()
	if g.Repo != nil {
		if err := g.Close(); err != nil {
			g.T.Fatal(err)
		}
	}
	repo, err := cairn.Open(g.opt)
	if err != nil {
		g.T.Fatal(err)
	}
	g.Repo = repo
	g.T.Cleanup(func() { repo.Close() })
}

func (g *guarded) write(path, content string) {
	g.T.Helper()
	full := filepath.Join(g.root, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		g.T.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
		g.T.Fatal(err)
	}
}

func (g *guarded) track() *cairn.TrackResult {
	g.T.Helper()
	res, err := g.Track(context.Background(), cairn.TrackOptions{})
	if err != nil {
		g.T.Fatal(err)
	}
	return res
}

// texts are the places of secrets, the new ones with a plus.
func texts(list []cairn.Secret) (out []string) {
	for i := range list {
		text := list[i].String()
		if list[i].New {
			text = "+" + text
		}
		out = append(out, text)
	}
	return out
}

func (g *guarded) wantSecrets(res *cairn.TrackResult, want ...string) {
	g.T.Helper()
	if got := texts(res.Secrets); !slices.Equal(got, want) {
		g.T.Errorf("answered %q, want %q", got, want)
	}
	c, err := g.Lookup(context.Background(), res.Checkpoint)
	if err != nil {
		g.T.Fatal(err)
	}
	recorded, err := c.Secrets()
	if err != nil {
		g.T.Fatal(err)
	}
	for i := range want {
		want[i] = strings.TrimPrefix(want[i], "+")
	}
	if got := texts(recorded); !slices.Equal(got, want) {
		g.T.Errorf("recorded %q, want %q", got, want)
	}
}

// wantStored checks whether any file of the store, or any object of it, holds a text.
func (g *guarded) wantStored(text string, want bool) {
	g.T.Helper()
	oracle := gittest.NewOracle(g.T)
	objects := oracle.In(g.StoreDir(), "cat-file", "--batch-all-objects", "--batch")
	got := strings.Contains(objects, text)
	err := filepath.WalkDir(g.data, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			data, err := os.ReadFile(path)
			got = got || strings.Contains(string(data), text)
			return err
		}
		return err
	})
	if err != nil || got != want {
		g.T.Errorf("the store holds the secret: %v (%v), want %v", got, err, want)
	}
}

// TestSecretsWarn: a secret is captured, named once as new, and goes on with the checkpoints until the
// file no longer holds it, whatever happens to the stat cache.
func TestSecretsWarn(t *testing.T) {
	t.Parallel()
	g := newGuarded(t, "")
	token := madeToken("1")
	g.write("a.txt", "nothing\n")
	g.write("conf/key.py", "# a key\nkey = '"+token+"'\n")
	first := g.track()
	g.wantSecrets(first, "+conf/key.py:2 (github-token)")
	g.wantStored(token, true)

	g.write("a.txt", "something\n")
	g.wantSecrets(g.track(), "conf/key.py:2 (github-token)")
	g.reopen()
	g.write("a.txt", "something else\n")
	g.wantSecrets(g.track(), "conf/key.py:2 (github-token)")

	for _, name := range []string{"index", "index.delta"} {
		os.Remove(filepath.Join(g.StoreDir(), "cairn", name))
	}
	g.reopen()
	g.write("a.txt", "yet something else\n")
	g.wantSecrets(g.track(), "conf/key.py:2 (github-token)")

	g.write("copy.py", "# a key\nkey = '"+token+"'\n")
	g.wantSecrets(g.track(), "conf/key.py:2 (github-token)", "+copy.py:2 (github-token)")
	g.write("conf/key.py", "key = os.environ['KEY']\n")
	os.Remove(filepath.Join(g.root, "copy.py"))
	g.wantSecrets(g.track())
	g.wantSecrets(again(g, first), "conf/key.py:2 (github-token)")
}

// again is the answer of an earlier track without what was new then.
func again(g *guarded, res *cairn.TrackResult) *cairn.TrackResult {
	out := *res
	out.Secrets = slices.Clone(res.Secrets)
	for i := range out.Secrets {
		out.Secrets[i].New = false
	}
	return &out
}

// TestSecretsSkip: a file with a secret is never stored, not even to be saved before it is overwritten,
// and goes back and forth as nothing had happened to it.
func TestSecretsSkip(t *testing.T) {
	t.Parallel()
	g := newGuarded(t, cairn.SecretsSkip)
	ctx, token := context.Background(), madeToken("2")
	g.write("a", "1\n")
	g.write("key", "clean\n")
	clean := g.track()
	g.wantSecrets(clean)
	g.write("a", "2\n")
	g.write("key", token+"\n")
	g.write("new", "x\n"+token+"\n")
	for range 2 {
		res := g.track()
		if !res.Complete() || len(res.Skipped) != 2 || res.Skipped[0].Path != "key" || res.Skipped[0].Reason != "secret" || !res.Skipped[0].Policy() || res.Skipped[1].Path != "new" {
			t.Errorf("skipped %+v", res.Skipped)
		}
		for i := range res.Secrets {
			res.Secrets[i].New = false
		}
		g.wantSecrets(res, "key:1 (github-token)", "new:2 (github-token)")
	}
	done, err := g.Restore(ctx, clean.Hash, cairn.RestoreOptions{})
	if err != nil {
		t.Fatal(err)
	}
	kept := map[string]string{}
	for _, k := range done.Kept {
		kept[string(k.Path)] = k.Reason
	}
	if len(kept) != 2 || !strings.Contains(kept["key"], "secret") || !strings.Contains(kept["new"], "secret") || !reflect.DeepEqual(done.Restored, cairn.Paths{"a"}) {
		t.Errorf("restored %+v", done)
	}
	for path, want := range map[string]string{"a": "1\n", "key": token + "\n", "new": "x\n" + token + "\n"} {
		if got, err := os.ReadFile(filepath.Join(g.root, path)); err != nil || string(got) != want {
			t.Errorf("%s holds %q (%v)", path, got, err)
		}
	}
	if _, err := g.Undo(ctx, cairn.RevertOptions{}); err != nil {
		t.Fatal(err)
	}
	g.wantStored(token, false)
	g.write("key", "clean again\n")
	os.Remove(filepath.Join(g.root, "new"))
	res := g.track()
	g.wantSecrets(res)
	if len(res.Skipped) > 0 {
		t.Errorf("skipped %+v", res.Skipped)
	}
}

// TestSecretsRefuse: no checkpoint is made of a state with a secret, the error names the place, and nothing
// of the file is in the store. A status and a restore leave the file out.
func TestSecretsRefuse(t *testing.T) {
	t.Parallel()
	g := newGuarded(t, cairn.SecretsRefuse)
	ctx, token := context.Background(), madeToken("3")
	g.write("a", "1\n")
	clean := g.track()
	g.write("a", "2\n")
	g.write("key", "x\n"+token+"\n")
	for range 2 {
		_, err := g.Track(ctx, cairn.TrackOptions{})
		if !errors.Is(err, cairn.ErrSecrets) || !strings.Contains(err.Error(), "key:2 (github-token)") || strings.Contains(err.Error(), token) {
			t.Fatalf("error %v", err)
		}
		if newest, err := g.Lookup(ctx, "@"); err != nil || newest.ID != clean.Checkpoint {
			t.Errorf("newest %v, %v", newest, err)
		}
	}
	changes, err := g.Changes(ctx, clean.Hash, "")
	if err != nil || len(changes) != 1 || changes[0].Path != "a" {
		t.Errorf("changes %+v, %v", changes, err)
	}
	if _, err := g.Track(ctx, cairn.TrackOptions{}); !errors.Is(err, cairn.ErrSecrets) {
		t.Errorf("after a status: error %v", err)
	}
	if done, err := g.Restore(ctx, clean.Hash, cairn.RestoreOptions{}); err != nil || len(done.Kept) != 1 || len(done.Restored) != 1 {
		t.Errorf("restored %+v, %v", done, err)
	}
	g.wantStored(token, false)
	g.write("key", "x\n"+token+" # cairn:allow\n")
	g.wantSecrets(g.track())
}

// TestSecretsOff: nothing is looked at; what the store holds by then is not looked at later either.
func TestSecretsOff(t *testing.T) {
	t.Parallel()
	g := newGuarded(t, cairn.SecretsOff)
	g.write("key", madeToken("4")+"\n")
	g.wantSecrets(g.track())
	g.opt.Secrets = cairn.SecretsRefuse
	g.reopen()
	g.write("a", "x\n")
	g.wantSecrets(g.track())
	g.write("key", madeToken("5")+"\n")
	if _, err := g.Track(context.Background(), cairn.TrackOptions{}); !errors.Is(err, cairn.ErrSecrets) {
		t.Errorf("new contents: error %v", err)
	}
}

// TestSecretsLarge: a file that is not read into memory at once is looked at, too.
func TestSecretsLarge(t *testing.T) {
	t.Parallel()
	for _, policy := range []cairn.SecretsPolicy{cairn.SecretsWarn, cairn.SecretsSkip} {
		g := newGuarded(t, policy)
		token := madeToken("6")
		g.write("dump.sql", strings.Repeat("insert into t values (1, 'words');\n", 9<<20/35)+token+"\n")
		g.wantSecrets(g.track(), "+dump.sql:269634 (github-token)")
		g.wantStored(token, policy == cairn.SecretsWarn)
	}
}

// TestSecretRulesFile: rules of the user take the place of the own ones; a file that cannot be used ends
// captures, and no other command.
func TestSecretRulesFile(t *testing.T) {
	t.Parallel()
	g := newGuarded(t, "")
	g.write("f", madeToken("7")+"\nacme-12345678\n")
	g.opt.SecretRules = filepath.Join(t.TempDir(), "rules.toml")
	g.reopen()
	if _, err := g.Track(context.Background(), cairn.TrackOptions{}); err == nil || !strings.Contains(err.Error(), g.opt.SecretRules) {
		t.Errorf("no file: error %v", err)
	}
	if err := os.WriteFile(g.opt.SecretRules, []byte("[[rules]]\nid = \"acme\"\nregex = '''acme-[0-9]{8}'''\nkeywords = [\"acme\"]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	g.reopen()
	g.wantSecrets(g.track(), "+f:2 (acme)")
	if _, err := cairn.Open(cairn.Options{Root: g.root, DataDir: g.data, Secrets: "maybe"}); err == nil || !strings.Contains(err.Error(), "maybe") {
		t.Errorf("a policy that there is not: error %v", err)
	}
}
