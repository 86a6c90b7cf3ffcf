package cairn_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// leaky is a project whose history holds tokens in several contents, and their places.
func leaky(t *testing.T, policy cairn.SecretsPolicy) (g *guarded, ids []string) {
	t.Helper()
	g = newGuarded(t, policy)
	g.write("conf/key.py", "key = None\n")
	g.write("other", "plain\n")
	ids = append(ids, g.track().Checkpoint)
	g.write("conf/key.py", "key = None\n# "+madeToken("A")+"\n")
	ids = append(ids, g.track().Checkpoint)
	g.write("other", "plain\nand more\n")
	g.write("gone.txt", madeToken("B")+"\n")
	ids = append(ids, g.track().Checkpoint)
	if _, err := g.Restore(context.Background(), ids[0], cairn.RestoreOptions{Paths: []string{"gone.txt"}}); err != nil {
		t.Fatal(err)
	}
	return g, ids
}

func (g *guarded) purgeSecrets(opt cairn.PurgeSecretsOptions) *cairn.PurgeSecretsResult {
	g.T.Helper()
	done, err := g.PurgeSecrets(context.Background(), opt)
	if err != nil {
		g.T.Fatal(err)
	}
	gittest.NewOracle(g.T).Fsck(g.StoreDir())
	return done
}

// TestPurgeSecrets: contents with secrets go from all of the history, other contents of the same paths stay,
// old ids lead to what took their place.
func TestPurgeSecrets(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g, ids := leaky(t, cairn.SecretsOff) // no capture has looked at anything
	refs := gittest.NewOracle(t).In(g.StoreDir(), "for-each-ref")
	done := g.purgeSecrets(cairn.PurgeSecretsOptions{DryRun: true})
	if len(done.Findings) != 2 || done.Findings[0].Path != "conf/key.py" || done.Findings[0].Rule != "github-token" || done.Findings[0].Line != 2 ||
		done.Findings[0].Checkpoints < 2 || done.Findings[1].Path != "gone.txt" || len(done.Checkpoints)+len(done.Paths)+len(done.Uncaptured) > 0 {
		t.Errorf("dry run: %+v", done)
	}
	if now := gittest.NewOracle(t).In(g.StoreDir(), "for-each-ref"); now != refs {
		t.Errorf("a dry run moved refs: %s, before %s", now, refs)
	}
	if got := g.purgeSecrets(cairn.PurgeSecretsOptions{DryRun: true, Paths: []string{"gone.txt"}}); len(got.Findings) != 1 || got.Findings[0].Path != "gone.txt" {
		t.Errorf("one path: %+v", got.Findings)
	}

	done = g.purgeSecrets(cairn.PurgeSecretsOptions{})
	if want := (cairn.Paths{"conf/key.py", "gone.txt"}); !slices.Equal(done.Paths, want) || !slices.Equal(done.Uncaptured, cairn.Paths{"conf/key.py"}) || len(done.Elsewhere) > 0 {
		t.Errorf("purged: %+v", done)
	}
	for i, want := range []map[string]string{{"conf/key.py": "key = None\n", "other": "plain\n"}, {"other": "plain\n"}, {"other": "plain\nand more\n"}} {
		c, err := g.Lookup(ctx, ids[i])
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{"conf/key.py", "other", "gone.txt"} {
			text, err := g.readAt(c.ID, path)
			if text != want[path] || want[path] == "" && !errors.Is(err, cairn.ErrNotFound) {
				t.Errorf("checkpoint %d holds %s: %q (%v), want %q", i, path, text, err, want[path])
			}
		}
		skipped, err := c.Skipped()
		if err != nil || slices.ContainsFunc(skipped, func(s cairn.SkippedPath) bool { return s.Reason != "purged" || want[string(s.Path)] != "" }) {
			t.Errorf("checkpoint %d skips %+v (%v)", i, skipped, err)
		}
	}
	g.wantStored(madeToken("A"), false)
	g.wantStored(madeToken("B"), false)
	g.reopen()
	res := g.track()
	if len(res.Skipped) != 1 || res.Skipped[0].Path != "conf/key.py" {
		t.Errorf("skipped %+v", res.Skipped)
	}
	g.wantStored(madeToken("A"), false)
	if again := g.purgeSecrets(cairn.PurgeSecretsOptions{}); len(again.Findings) > 0 || len(again.Paths) > 0 {
		t.Errorf("again: %+v", again)
	}
	g.write("conf/key.py", "key = read()\n")
	if err := g.Unpurge(ctx, []string{"conf/key.py"}); err != nil {
		t.Fatal(err)
	}
	if res := g.track(); len(res.Skipped) > 0 {
		t.Errorf("after lifting: %+v", res.Skipped)
	}
}

// TestPurgeSecretsThenSkip: where the settings leave such files out, no path is put on the list, and the
// file comes back into captures as soon as it holds no secret.
func TestPurgeSecretsThenSkip(t *testing.T) {
	t.Parallel()
	g, _ := leaky(t, cairn.SecretsWarn)
	g.opt.Secrets = cairn.SecretsSkip
	g.reopen()
	if done := g.purgeSecrets(cairn.PurgeSecretsOptions{}); len(done.Paths) != 2 || len(done.Uncaptured) > 0 {
		t.Errorf("purged %+v", done)
	}
	if res := g.track(); len(res.Skipped) != 1 || res.Skipped[0].Reason != "secret" {
		t.Errorf("skipped %+v", res.Skipped)
	}
	g.wantStored(madeToken("A"), false)
	g.write("conf/key.py", "key = read()\n")
	if res := g.track(); len(res.Skipped)+len(res.Secrets) > 0 {
		t.Errorf("answered %+v", res)
	}
}

// TestPurgeSecretsOfSome: a purge of some paths leaves the others, and the store says so on request.
func TestPurgeSecretsOfSome(t *testing.T) {
	t.Parallel()
	g, _ := leaky(t, cairn.SecretsWarn)
	g.write("copy.txt", madeToken("B")+"\n")
	g.track()
	done := g.purgeSecrets(cairn.PurgeSecretsOptions{Paths: []string{"gone.txt"}})
	if !slices.Equal(done.Paths, cairn.Paths{"gone.txt"}) || len(done.Elsewhere) != 1 {
		t.Errorf("purged %+v", done)
	}
	left := g.purgeSecrets(cairn.PurgeSecretsOptions{DryRun: true})
	if len(left.Findings) != 2 || left.Findings[0].Path != "conf/key.py" || left.Findings[1].Path != "copy.txt" {
		t.Errorf("left %+v", left.Findings)
	}
}

// TestKilledInAPurgeOfSecrets: killed before any write-type call, the store verifies, no file of the root
// has changed, and the same call completes the purge.
func TestKilledInAPurgeOfSecrets(t *testing.T) {
	t.Parallel()
	gittest.Long(t)
	g, ids := leaky(t, cairn.SecretsWarn)
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	pristine := filepath.Join(t.TempDir(), "data")
	gittest.CopyTree(t, g.data, pristine)
	root := gittest.Manifest(t, g.root)
	env := append(os.Environ(), "CAIRN_TEST_COMMAND=purge-secrets", "CAIRN_TEST_ROOT="+g.root, "CAIRN_TEST_DATA="+g.data, "GOMAXPROCS=2")
	check := func(when string) {
		g.Repo = nil
		g.reopen()
		gittest.NewOracle(t).Fsck(g.StoreDir())
		if _, err := g.Lookup(context.Background(), ids[2]); err != nil {
			t.Errorf("%s: %v", when, err)
		}
		g.purgeSecrets(cairn.PurgeSecretsOptions{})
		for _, last := range []string{"A", "B"} {
			g.wantStored(madeToken(last), false)
		}
		if err := g.Close(); err != nil {
			t.Fatal(err)
		}
		gittest.AssertEqual(t, "the directory", root, gittest.Manifest(t, g.root))
	}
	gittest.Killed(t, gittest.Stride(), func(n int) gittest.Crash {
		gittest.CopyTree(t, pristine, g.data)
		return gittest.KillAt(t, []string{os.Args[0]}, env, gittest.WriteCalls, n)
	}, check)
	check("undisturbed")
}

// readAt is the contents of a path at a checkpoint.
func (g *guarded) readAt(id, path string) (string, error) {
	_, in, err := g.OpenFile(context.Background(), id, path)
	if err != nil {
		return "", err
	}
	defer in.Close()
	data, err := io.ReadAll(in)
	return string(data), err
}

// TestPurgedSecretsThatComeAgain: an old bundle brings back contents that purge --secrets took out. That is said,
// although their paths are captured.
func TestPurgedSecretsThatComeAgain(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g, ids := leaky(t, cairn.SecretsOff)
	var bundle, log bytes.Buffer
	if err := g.Export(ctx, &bundle, ids[1]); err != nil {
		t.Fatal(err)
	}
	g.write("conf/key.py", "key = None\n")
	g.opt.Logger = slog.New(slog.NewTextHandler(&log, nil))
	g.reopen()
	if done := g.purgeSecrets(cairn.PurgeSecretsOptions{}); len(done.Uncaptured) > 0 {
		t.Fatalf("out of captures: %v", done.Uncaptured)
	}
	if _, err := g.Import(ctx, &bundle); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(log.String(), "paths=conf/key.py count=1") {
		t.Errorf("the import logs %s", &log)
	}
}
