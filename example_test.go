package cairn_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed-fb9cbc17/cairn"
)

// A step of an agent, taken back.
func Example() {
	ctx := context.Background()
	base, _ := os.MkdirTemp("", "cairn-example")
	defer os.RemoveAll(base)
	dir := filepath.Join(base, "project")
	os.Mkdir(dir, 0o755)
	os.WriteFile(filepath.Join(dir, "main.go"), []byte("package main\n"), 0o644)

	repo, err := cairn.Open(cairn.Options{Root: dir, DataDir: filepath.Join(base, "data")})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer repo.Close()

	before, err := repo.Track(ctx, cairn.TrackOptions{}) // before the tools run
	if err != nil {
		fmt.Println(err)
		return
	}
	os.WriteFile(filepath.Join(dir, "main.go"), []byte("package broken\n"), 0o644)
	os.WriteFile(filepath.Join(dir, "junk"), nil, 0o644)

	patch, err := repo.Patch(ctx, before.Hash, "") // which files the step changed
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := repo.RevertPatches(ctx, []cairn.Patch{patch}, cairn.RevertPatchesOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("restored", result.Restored, "deleted", result.Deleted)
	// Output: restored [main.go] deleted [junk]
}
