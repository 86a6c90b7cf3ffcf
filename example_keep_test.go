package cairn_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/seed-fb9cbc17/cairn"
)

func ExampleRepo_Pin() {
	p := newProject()
	defer p.close()
	ctx := context.Background()
	p.write("a", "one\n")
	if err := p.repo.Pin(ctx, p.track(), "works"); err != nil {
		fmt.Println(err)
		return
	}
	p.write("a", "broken\n")
	result, err := p.repo.Restore(ctx, "works", cairn.RestoreOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("restored", result.Restored)
	// Output: restored [a]
}

func ExampleRepo_Clean() {
	p := newProject()
	defer p.close()
	ctx := context.Background()
	for i := range 5 {
		p.write("a", fmt.Sprint(i))
		p.track()
	}
	keep := cairn.Retention{MaxCount: 2, KeepLast: 1}
	would, err := p.repo.Clean(ctx, cairn.CleanOptions{Retention: keep, DryRun: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	done, err := p.repo.Clean(ctx, cairn.CleanOptions{Retention: keep})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("would remove", would.Checkpoints, "removed", done.Checkpoints, "kept", done.Kept)
	// Output: would remove 3 removed 3 kept 2
}

func ExampleRepo_Purge() {
	p := newProject()
	defer p.close()
	ctx := context.Background()
	p.write("a", "one\n")
	p.write("secret.env", "password\n")
	before := p.track()
	done, err := p.repo.Purge(ctx, []string{"secret.env"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("purged", done.Paths, "not captured", p.repo.PurgedPaths())
	there, err := p.repo.Exists(ctx, before, "secret.env") // the old hash still names the checkpoint
	fmt.Println(there, err)
	if err := p.repo.Unpurge(ctx, []string{"secret.env"}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// purged [secret.env] not captured [secret.env]
	// false <nil>
}

// A checkpoint goes from one store to another as a git bundle.
func ExampleRepo_Export() {
	from, to := newProject(), newProject()
	defer from.close()
	defer to.close()
	ctx := context.Background()
	from.write("a", "one\n")
	var bundle bytes.Buffer
	if err := from.repo.Export(ctx, &bundle, from.track()); err != nil {
		fmt.Println(err)
		return
	}
	checkpoint, err := to.repo.Import(ctx, &bundle)
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := to.repo.Restore(ctx, checkpoint.ID, cairn.RestoreOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("restored", result.Restored)
	// Output: restored [a]
}

// An input that is no bundle leaves the store unchanged.
func ExampleRepo_Import() {
	p := newProject()
	defer p.close()
	_, err := p.repo.Import(context.Background(), bytes.NewReader([]byte("no bundle")))
	fmt.Println(errors.Is(err, cairn.ErrBundle))
	// Output: true
}

func ExampleRepo_Check() {
	p := newProject()
	defer p.close()
	p.write("a", "one\n")
	p.track()
	faults, err := p.repo.Check(context.Background(), cairn.CheckOptions{})
	for _, f := range faults {
		fmt.Println(f.Kind, f.Text, f.Repair)
	}
	fmt.Println(len(faults), "faults", err)
	// Output: 0 faults <nil>
}

// The stores of a data directory can be measured without their roots.
func ExampleStores() {
	p := newProject()
	defer p.close()
	ctx := context.Background()
	p.write("a", "one\n")
	p.track()
	stores, err := cairn.Stores(filepath.Join(p.base, "data"))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, info := range stores {
		store, err := cairn.OpenStore(info.Dir)
		if err != nil {
			fmt.Println(err)
			return
		}
		defer store.Close()
		usage, err := store.Usage(ctx)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(filepath.Base(info.Root), usage.Checkpoints, "checkpoint")
	}
	// Output: project 1 checkpoint
}
