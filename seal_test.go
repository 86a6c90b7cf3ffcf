package cairn_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// sealedFixture is a fixture with two checkpoints and a key.
func sealedFixture(t *testing.T) (f *fixture, first, second string) {
	t.Helper()
	f = newFixture(t, gittest.Tree{"secret-name": gittest.File("secret-content\n"), "kept": gittest.File("kept\n")})
	sealing(t)(&f.opt)
	first = f.trackAll()
	f.write("secret-name", "other\n")
	return f, first, f.trackAll()
}

// seal seals the store after everything has let go of it.
func (f *fixture) seal() *cairn.SealResult {
	f.Helper()
	f.closeAll()
	f.opened = nil
	res, err := cairn.Seal(f.Context(), f.opt, cairn.SealOptions{})
	if err != nil {
		f.Fatal(err)
	}
	return res
}

// TestSealAndUnseal: a sealed store shows nothing and does nothing, and comes back whole.
func TestSealAndUnseal(t *testing.T) {
	t.Parallel()
	f, first, second := sealedFixture(t)
	sealed := f.seal()
	store := cairn.StorePath(f.data, f.root)
	if err := filepath.WalkDir(store, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		for _, text := range []string{"secret-name", "secret-content", "kept", first, second, f.root} {
			if bytes.Contains(data, []byte(text)) {
				t.Errorf("%s shows %q", path, text)
			}
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := cairn.Open(f.opt); !errors.Is(err, cairn.ErrSealed) {
		t.Errorf("open: %v", err)
	}
	stores, err := cairn.Stores(f.data)
	if err != nil || len(stores) != 1 || !errors.Is(stores[0].Err, cairn.ErrSealed) || stores[0].Size < sealed.Sealed {
		t.Errorf("stores %+v, %v", stores, err)
	}
	dry, err := cairn.Unseal(t.Context(), f.opt, cairn.SealOptions{DryRun: true})
	if err != nil || dry.Files != sealed.Files || !cairn.StoreSealed(f.data, f.root) {
		t.Errorf("dry run: %+v, %v", dry, err)
	}
	if _, err := cairn.Unseal(t.Context(), f.opt, cairn.SealOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.repo().Restore(t.Context(), first, cairn.RestoreOptions{}); err != nil {
		t.Fatal(err)
	}
	gittest.AssertTree(t, f.root, gittest.Tree{"secret-name": gittest.File("secret-content\n"), "kept": gittest.File("kept\n")})
	if faults, err := f.repo().Check(t.Context(), cairn.CheckOptions{}); err != nil || len(faults) > 0 {
		t.Errorf("faults %+v, %v", faults, err)
	}
	gittest.FsckBare(t, store)
	if _, err := cairn.Unseal(t.Context(), f.opt, cairn.SealOptions{}); !errors.Is(err, cairn.ErrNotSealed) {
		t.Errorf("opened twice: %v", err)
	}
}

// TestSealErrors: each error names its reason, and the store stays open.
func TestSealErrors(t *testing.T) {
	t.Parallel()
	f, _, _ := sealedFixture(t)
	f.closeAll()
	other := f.opt
	sealing(t)(&other)
	for what, try := range map[string]struct {
		change func(*cairn.Options)
		want   error
	}{
		"no recipient":  {func(o *cairn.Options) { o.Encrypt = nil }, cairn.ErrRecipient},
		"none":          {func(o *cairn.Options) { o.Encrypt = []string{cairn.EncryptNone} }, cairn.ErrRecipient},
		"no key of age": {func(o *cairn.Options) { o.Encrypt = []string{"age1nonsense"} }, cairn.ErrRecipient},
		"no identity":   {func(o *cairn.Options) { o.Identity = "" }, cairn.ErrIdentity},
		"other key":     {func(o *cairn.Options) { o.Identity = other.Identity }, cairn.ErrKey},
		"no sealer":     {func(o *cairn.Options) { o.Sealer = nil }, cairn.ErrStore},
		"no store":      {func(o *cairn.Options) { o.Root = t.TempDir() }, cairn.ErrNotFound},
		"no key file":   {func(o *cairn.Options) { o.Identity += ".absent" }, fs.ErrNotExist},
	} {
		opt := f.opt
		try.change(&opt)
		if _, err := cairn.Seal(t.Context(), opt, cairn.SealOptions{}); !errors.Is(err, try.want) {
			t.Errorf("%s: %v, want %v", what, err, try.want)
		}
		if cairn.StoreSealed(f.data, f.root) {
			t.Fatalf("%s: sealed all the same", what)
		}
	}
	if _, err := cairn.Unseal(t.Context(), f.opt, cairn.SealOptions{}); !errors.Is(err, cairn.ErrNotSealed) {
		t.Errorf("an open store: %v", err)
	}
	nowhere := f.opt
	nowhere.Root = filepath.Join(t.TempDir(), "gone")
	if _, err := cairn.Unseal(t.Context(), nowhere, cairn.SealOptions{}); !errors.Is(err, cairn.ErrNotFound) {
		t.Errorf("no store: %v", err)
	}
}

// TestSealedForOthers: the recipients change without the store being open in between.
func TestSealedForOthers(t *testing.T) {
	t.Parallel()
	f, _, second := sealedFixture(t)
	f.seal()
	old, both := f.opt, filepath.Join(t.TempDir(), "both")
	sealing(t)(&f.opt)
	var keys []byte
	for _, file := range []string{old.Identity, f.opt.Identity} {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, data...)
	}
	if err := os.WriteFile(both, keys, 0o600); err != nil {
		t.Fatal(err)
	}
	again := f.opt
	again.Identity = both
	if _, err := cairn.Seal(t.Context(), again, cairn.SealOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := cairn.Unseal(t.Context(), old, cairn.SealOptions{}); !errors.Is(err, cairn.ErrKey) {
		t.Errorf("the former key: %v", err)
	}
	if _, err := cairn.Unseal(t.Context(), f.opt, cairn.SealOptions{}); err != nil {
		t.Errorf("the new key: %v", err)
	}
	if _, err := f.repo().Lookup(t.Context(), second); err != nil {
		t.Error(err)
	}
}

// TestSealedUntriedForOthers: a sealed store is sealed for a recipient whose key is elsewhere, with its own key alone.
// Without that key the error says that it is missing.
func TestSealedUntriedForOthers(t *testing.T) {
	t.Parallel()
	f, _, second := sealedFixture(t)
	f.seal()
	old := f.opt
	sealing(t)(&f.opt)
	lost, again := f.opt, f.opt
	lost.Identity, again.Identity = "", old.Identity
	if _, err := cairn.Seal(t.Context(), lost, cairn.SealOptions{Untried: true}); !errors.Is(err, cairn.ErrIdentity) || !strings.Contains(err.Error(), "none is given") {
		t.Errorf("without the key of the store: %v", err)
	}
	if _, err := cairn.Seal(t.Context(), again, cairn.SealOptions{}); !errors.Is(err, cairn.ErrKey) || !strings.Contains(err.Error(), "--untried") {
		t.Errorf("the new key is not at hand: %v", err)
	}
	if _, err := cairn.Seal(t.Context(), again, cairn.SealOptions{Untried: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := cairn.Unseal(t.Context(), old, cairn.SealOptions{}); !errors.Is(err, cairn.ErrKey) {
		t.Errorf("the former key: %v", err)
	}
	if _, err := cairn.Unseal(t.Context(), f.opt, cairn.SealOptions{}); err != nil {
		t.Errorf("the new key: %v", err)
	}
	if _, err := f.repo().Lookup(t.Context(), second); err != nil {
		t.Error(err)
	}
}

// TestUnsealOfAMovedRoot: a store whose directory is gone opens, so that it can be adopted.
func TestUnsealOfAMovedRoot(t *testing.T) {
	t.Parallel()
	f, _, second := sealedFixture(t)
	f.seal()
	moved := f.root + "-moved"
	if err := os.Rename(f.root, moved); err != nil {
		t.Fatal(err)
	}
	if err := cairn.Adopt(t.Context(), f.data, f.root, moved); !errors.Is(err, cairn.ErrSealed) {
		t.Errorf("adopted sealed: %v", err)
	}
	if _, err := cairn.Unseal(t.Context(), f.opt, cairn.SealOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := cairn.Adopt(t.Context(), f.data, f.root, moved); err != nil {
		t.Fatal(err)
	}
	f.opt.Root = moved
	if _, err := f.repo().Lookup(t.Context(), second); err != nil {
		t.Error(err)
	}
}

// TestOpenUnseals: with the option, Open opens the store and keeps others from sealing it meanwhile.
func TestOpenUnseals(t *testing.T) {
	t.Parallel()
	f, _, second := sealedFixture(t)
	f.seal()
	f.opt.Unseal = true
	r, err := cairn.Open(f.opt)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Lookup(t.Context(), second); err != nil || cairn.StoreSealed(f.data, f.root) {
		t.Errorf("not opened: %v", err)
	}
	if _, err := cairn.Seal(t.Context(), f.opt, cairn.SealOptions{}); !errors.Is(err, cairn.ErrLocked) {
		t.Errorf("sealed under a reader: %v", err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	f.seal()
	lost := f.opt
	sealing(t)(&lost)
	for identity, want := range map[string]error{lost.Identity: cairn.ErrKey, lost.Identity + ".absent": fs.ErrNotExist, "": cairn.ErrIdentity} {
		lost.Identity = identity
		if _, err := cairn.Open(lost); !errors.Is(err, want) || !errors.Is(err, cairn.ErrStore) || !errors.Is(err, cairn.ErrSealed) {
			t.Errorf("opened with the identity %q: %v", identity, err)
		}
	}
}

// TestSealBesideItsMaker: the Repo that makes a store keeps it from being sealed, as one that opens it.
func TestSealBesideItsMaker(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"kept": gittest.File("kept\n")})
	sealing(t)(&f.opt)
	f.opt.Unseal = true
	f.trackAll()
	if _, err := cairn.Seal(t.Context(), f.opt, cairn.SealOptions{}); !errors.Is(err, cairn.ErrLocked) {
		t.Errorf("sealed under its maker: %v", err)
	}
	f.seal()
}

// TestSealBesideReaders: processes that open the store, work, leave and seal it, all at the same time. None of them ever
// sees half a store.
func TestSealBesideReaders(t *testing.T) {
	t.Parallel()
	f, _, second := sealedFixture(t)
	f.closeAll()
	f.opened, f.opt.Unseal = nil, true
	var sealed atomic.Int32
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for range 8 {
				if err := lookUp(f.opt, second); err != nil {
					t.Error(err)
				}
				_, err := cairn.Seal(background, f.opt, cairn.SealOptions{})
				if err == nil {
					sealed.Add(1)
				} else if !errors.Is(err, cairn.ErrLocked) {
					t.Error(err)
				}
			}
		})
	}
	readers.Wait()
	t.Logf("sealed %d times", sealed.Load())
	if err := lookUp(f.opt, second); err != nil {
		t.Error(err)
	}
}

func lookUp(opt cairn.Options, hash string) error {
	r, err := cairn.Open(opt)
	if err != nil {
		return err
	}
	defer r.Close()
	n := 0
	for _, err := range r.Log(background, cairn.LogOptions{}) {
		if n++; err != nil {
			return err
		}
	}
	if n != 2 {
		return fmt.Errorf("the log has %d checkpoints", n)
	}
	_, err = r.Lookup(background, hash)
	return err
}
