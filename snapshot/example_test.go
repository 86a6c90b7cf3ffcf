package snapshot_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/seed-fb9cbc17/cairn/snapshot"
)

// newProject returns the Config of a directory with one file, and a function that removes it.
func newProject() (snapshot.Config, func()) {
	base, err := os.MkdirTemp("", "cairn-example")
	check(err)
	cfg := snapshot.Config{Enabled: true, WorkDir: filepath.Join(base, "project"), DataDir: filepath.Join(base, "data")}
	check(os.Mkdir(cfg.WorkDir, 0o755))
	write(cfg, "main.go", "package main\n")
	return cfg, func() { check(os.RemoveAll(base)) }
}

func write(cfg snapshot.Config, name, text string) {
	check(os.WriteFile(filepath.Join(cfg.WorkDir, name), []byte(text), 0o644))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// A step of an agent, taken back.
func Example() {
	cfg, remove := newProject()
	defer remove()
	before, err := snapshot.Track(cfg)
	if err != nil {
		fmt.Println(err)
		return
	}
	write(cfg, "main.go", "package broken\n")
	write(cfg, "junk", "")

	patch, err := snapshot.GetPatch(cfg, before)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, file := range patch.Files {
		fmt.Println(filepath.Base(file))
	}
	if err := snapshot.Revert(cfg, []snapshot.Patch{patch}); err != nil {
		fmt.Println(err)
		return
	}
	text, err := os.ReadFile(filepath.Join(cfg.WorkDir, "main.go"))
	fmt.Printf("%s%v\n", text, err)
	// Output:
	// junk
	// main.go
	// package main
	// <nil>
}

// The hash is the id of a git tree: equal states have equal hashes.
func ExampleTrack() {
	cfg, remove := newProject()
	defer remove()
	hash, err := snapshot.Track(cfg)
	fmt.Println(hash, err)
	// Output: b9270df7070cc6a5e7dbdec610a7ce4f54c47b20 <nil>
}

func ExampleGetPatch() {
	cfg, remove := newProject()
	defer remove()
	before, err := snapshot.Track(cfg)
	if err != nil {
		fmt.Println(err)
		return
	}
	write(cfg, "new.go", "package main\n")
	patch, err := snapshot.GetPatch(cfg, before)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(patch.Hash == before, len(patch.Files), filepath.Base(patch.Files[0]))
	// Output: true 1 new.go
}

// Restore is an overlay: files created since stay.
func ExampleRestore() {
	cfg, remove := newProject()
	defer remove()
	before, err := snapshot.Track(cfg)
	if err != nil {
		fmt.Println(err)
		return
	}
	write(cfg, "main.go", "package broken\n")
	write(cfg, "new", "")
	if err := snapshot.Restore(cfg, before); err != nil {
		fmt.Println(err)
		return
	}
	entries, err := os.ReadDir(cfg.WorkDir)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, e := range entries {
		fmt.Println(e.Name())
	}
	// Output:
	// main.go
	// new
}

func ExampleRevert() {
	cfg, remove := newProject()
	defer remove()
	before, err := snapshot.Track(cfg)
	if err != nil {
		fmt.Println(err)
		return
	}
	write(cfg, "new", "")
	patch := snapshot.Patch{Hash: before, Files: []string{filepath.Join(cfg.WorkDir, "new")}}
	if err := snapshot.Revert(cfg, []snapshot.Patch{patch}); err != nil {
		fmt.Println(err)
		return
	}
	_, err = os.Stat(filepath.Join(cfg.WorkDir, "new"))
	fmt.Println("gone:", os.IsNotExist(err))
	// Output: gone: true
}

func ExampleDiff() {
	cfg, remove := newProject()
	defer remove()
	before, err := snapshot.Track(cfg)
	if err != nil {
		fmt.Println(err)
		return
	}
	write(cfg, "main.go", "package other\n")
	text, err := snapshot.Diff(cfg, before)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(text)
	// Output:
	// diff --git a/main.go b/main.go
	// index 06ab7d0..58a9531 100644
	// --- a/main.go
	// +++ b/main.go
	// @@ -1 +1 @@
	// -package main
	// +package other
}

func ExampleDiffFull() {
	cfg, remove := newProject()
	defer remove()
	from, err := snapshot.Track(cfg)
	if err != nil {
		fmt.Println(err)
		return
	}
	write(cfg, "main.go", "package other\n")
	to, err := snapshot.Track(cfg)
	if err != nil {
		fmt.Println(err)
		return
	}
	diffs, err := snapshot.DiffFull(cfg, from, to)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, d := range diffs {
		fmt.Printf("%s %s %q -> %q\n", d.Status, d.File, d.Before, d.After)
	}
	// Output: modified main.go "package main\n" -> "package other\n"
}
