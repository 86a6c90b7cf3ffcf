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

	patch, err := repo.Patch(ctx, before.Checkpoint, "") // which files the step changed
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

func ExampleOpen() {
	base, err := os.MkdirTemp("", "cairn-example")
	check(err)
	defer os.RemoveAll(base)
	dir := filepath.Join(base, "project")
	check(os.Mkdir(dir, 0o755))

	repo, err := cairn.Open(cairn.Options{
		Root: dir, DataDir: filepath.Join(base, "data"),
		Include:   []string{".env"},                         // captured although ignored
		Never:     []string{"*.pem"},                        // never captured
		Retention: &cairn.Retention{MinFree: cairn.NoLimit}, // the store keeps to the usual budget
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer repo.Close()
	fmt.Println(filepath.Base(repo.Root()), repo.Limits().MaxFiles)
	// Output: project 1000000
}

func ExampleRepo_Track() {
	p := newProject()
	defer p.close()
	ctx := context.Background()
	p.write("main.go", "package main\n")
	first, err := p.repo.Track(ctx, cairn.TrackOptions{Message: "before the refactoring"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(first.Hash, first.Files, "file")

	p.write(".gitignore", "*.log\n")
	p.write("debug.log", "ignored, but named\n")
	second, err := p.repo.Track(ctx, cairn.TrackOptions{Paths: []string{"debug.log"}, Author: "agent"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(second.Hash, second.Files, "files,", second.Changed, "changed")
	// Output:
	// b9270df7070cc6a5e7dbdec610a7ce4f54c47b20 1 file
	// a8a1370899d8beb2d48f31d5418c0198af023b93 3 files, 2 changed
}

// Without To a range ends at the present, and later changes are overwritten.
func ExampleRepo_Revert() {
	p := newProject()
	defer p.close()
	ctx := context.Background()
	p.write("notes", "one\n")
	before := p.track()
	p.write("notes", "one\ntwo, by the agent\n")
	p.write("junk", "")
	after := p.track()
	p.write("mine", "by the user\n")

	result, err := p.repo.Revert(ctx, cairn.Range{From: before, To: after}, cairn.RevertOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("restored", result.Restored, "deleted", result.Deleted)

	// Everything since the first checkpoint, the user's file included.
	result, err = p.repo.Revert(ctx, cairn.Range{From: before}, cairn.RevertOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("restored", result.Restored, "deleted", result.Deleted)
	// Output:
	// restored [notes] deleted [junk]
	// restored [] deleted [mine]
}

func ExampleRepo_RevertPatches() {
	p := newProject()
	defer p.close()
	ctx := context.Background()
	p.write("a", "1\n")
	before := p.track()
	p.write("a", "2\n")
	p.write("b", "new\n")
	patch, err := p.repo.Patch(ctx, before, "")
	if err != nil {
		fmt.Println(err)
		return
	}

	// Look first, then carry out exactly that.
	plan, err := p.repo.RevertPatches(ctx, []cairn.Patch{patch}, cairn.RevertPatchesOptions{DryRun: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, change := range plan.Plan {
		fmt.Println("would", change.Action, change.Path)
	}
	result, err := p.repo.RevertPatches(ctx, []cairn.Patch{patch}, cairn.RevertPatchesOptions{Plan: plan.PlanID})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("restored", result.Restored, "deleted", result.Deleted)
	// Output:
	// would modify a
	// would delete b
	// restored [a] deleted [b]
}

func ExampleRepo_Restore() {
	p := newProject()
	defer p.close()
	ctx := context.Background()
	p.write("a", "1\n")
	p.write("b", "1\n")
	before := p.track()
	p.write("a", "2\n")
	p.remove("b")
	p.write("c", "new\n")

	result, err := p.repo.Restore(ctx, before, cairn.RestoreOptions{KeepNew: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("restored", result.Restored, "deleted", result.Deleted)
	result, err = p.repo.Restore(ctx, before, cairn.RestoreOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("restored", result.Restored, "deleted", result.Deleted)
	// Output:
	// restored [a b] deleted []
	// restored [] deleted [c]
}

func ExampleRepo_Undo() {
	p := newProject()
	defer p.close()
	ctx := context.Background()
	p.write("a", "1\n")
	before := p.track()
	p.write("a", "2\n")
	if _, err := p.repo.Restore(ctx, before, cairn.RestoreOptions{}); err != nil {
		fmt.Println(err)
		return
	}
	undone, err := p.repo.Undo(ctx, cairn.RevertOptions{}) // "2" was saved before it was overwritten
	if err != nil {
		fmt.Println(err)
		return
	}
	redone, err := p.repo.Redo(ctx, cairn.RevertOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("undone", undone.Restored, "redone", redone.Restored)
	for op, err := range p.repo.Operations(ctx) {
		fmt.Println(op.Kind, op.Paths, err)
	}
	// Output:
	// undone [a] redone [a]
	// redo [a] <nil>
	// undo [a] <nil>
	// restore [a] <nil>
}
