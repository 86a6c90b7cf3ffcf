package httpapi

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"filippo.io/age"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/protocol"
	"github.com/seed-fb9cbc17/cairn/internal/sealed"
)

// sealing returns an option of a server whose settings have a key and, while opens is set, the setting seal.
func sealing(t *testing.T, opens *atomic.Bool) func(*Options) {
	t.Helper()
	id, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	key := filepath.Join(t.TempDir(), "key.txt")
	if err := os.WriteFile(key, []byte(id.String()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return func(o *Options) {
		inner := o.Settings
		o.Settings = func(root string) (cairn.Options, error) {
			opt, err := inner(root)
			opt.Encrypt, opt.Identity, opt.Sealer, opt.Unseal = []string{id.Recipient().String()}, key, sealed.Age{}, opens.Load()
			return opt, err
		}
	}
}

// TestServerEndsUnsealed: a store that a server leaves open when it ends is sealed by another process, if the settings
// want that.
func TestServerEndsUnsealed(t *testing.T) {
	t.Parallel()
	for _, wants := range []bool{true, false} {
		var opens atomic.Bool
		opens.Store(wants)
		var begun []string
		f := newFixture(t, someTree, sealing(t, &opens), func(o *Options) { o.Seal = func(root string) { begun = append(begun, root) } })
		f.track()
		if len(begun) > 0 {
			t.Errorf("sealed while the server runs: %q", begun)
		}
		if err := f.server.Close(); err != nil {
			t.Fatal(err)
		}
		if got := slices.Contains(begun, f.root); got != wants || len(begun) > 1 {
			t.Errorf("setting %v: begun for %q", wants, begun)
		}
	}
}

// TestServerSeals: a store without requests is sealed, and the next request opens it again.
func TestServerSeals(t *testing.T) {
	t.Parallel()
	var opens atomic.Bool
	opens.Store(true)
	f := newFixture(t, someTree, sealing(t, &opens), func(o *Options) { o.Idle = 4 * time.Millisecond })
	f.track()
	isSealed := func() bool { return cairn.StoreSealed(f.dataDir, f.root) }
	wait(t, "the store is sealed", isSealed)
	f.call("GET", "/status", nil).want(t, 200, nil)
	wait(t, "the store is sealed again", isSealed)

	// Without the setting it stays sealed, and the answer says so.
	opens.Store(false)
	wait(t, "the store is closed", func() bool {
		p := f.server.projects.first
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.handle == nil && isSealed()
	})
	f.call("GET", "/status", nil).problem(t, 423, string(protocol.Sealed))

	// A store that another process seals while the server has it open is no store without checkpoints.
	opt, err := f.server.opt.Settings(f.root)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cairn.Unseal(t.Context(), opt, cairn.SealOptions{}); err != nil {
		t.Fatal(err)
	}
	f.call("GET", "/status", nil).want(t, 200, nil)
	if _, err := cairn.Seal(t.Context(), opt, cairn.SealOptions{}); err != nil && !errors.Is(err, cairn.ErrLocked) {
		t.Fatal(err)
	}
	f.call("GET", "/status", nil).problem(t, 423, string(protocol.Sealed))
}

// TestServerSealsForksAgain: the sealed store of a fork that a list of forks opens is sealed again, and so is that of the
// project at the end alone.
func TestServerSealsForksAgain(t *testing.T) {
	t.Parallel()
	var opens atomic.Bool
	opens.Store(true)
	var begun []string
	seals := sealing(t, &opens)
	var settingsOf func(root string) (cairn.Options, error)
	f := newFixture(t, someTree, seals, func(o *Options) {
		o.Seal = func(root string) { begun = append(begun, root) }
		settingsOf = o.Settings
	})
	f.track()
	dir := filepath.Join(filepath.Dir(f.root), "sealed-fork")
	f.call("POST", "/fork", ForkRequest{Dir: dir}).want(t, 200, nil)
	opt, err := settingsOf(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cairn.Seal(t.Context(), opt, cairn.SealOptions{}); err != nil {
		t.Fatal(err)
	}
	var list []cairn.ForkInfo
	f.call("GET", "/forks", nil).want(t, 200, &list)
	if len(list) != 1 || list[0].Error != "" || !slices.Equal(begun, []string{dir}) {
		t.Errorf("%+v, begun for %q", list, begun)
	}
}
