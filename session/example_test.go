package session_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/session"
)

// The loop of an agent: track before the tools run, patch after them, record; then
// the user changes his mind, twice.
func Example() {
	base, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(base)
	root := filepath.Join(base, "project")
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			log.Fatal(err)
		}
	}
	if err := os.Mkdir(root, 0o755); err != nil {
		log.Fatal(err)
	}
	write("main.go", "package main\n")

	repo, err := cairn.Open(cairn.Options{Root: root, DataDir: filepath.Join(base, "data")})
	if err != nil {
		log.Fatal(err)
	}
	defer repo.Close()
	ctx, sessions := context.Background(), session.New(repo)

	// One turn: the user's message, and a step around each round of tools. Paths that
	// the tools name help where several agents work at once.
	turn := func(message, step string, tools func()) {
		_, err := sessions.BeginStep(ctx, session.StepBegin{
			Session: "s1", Message: message, Role: session.RoleUser, Step: step, Paths: []string{"main.go"},
		})
		if err != nil {
			log.Fatal(err)
		}
		tools()
		done, err := sessions.EndStep(ctx, session.StepEnd{
			Session: "s1", Step: step, Parts: []session.Part{{ID: step + "-edit", Type: session.PartTool}},
		})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("step %s changed %d files\n", done.ID, len(done.Patch.Files))
	}
	turn("m1", "1", func() { write("main.go", "package main\n\nfunc main() {}\n") })
	turn("m2", "2", func() { write("main.go", "package oops\n"); write("junk", "junk\n") })
	write("notes.txt", "by the user\n")

	// Look first, then carry out exactly that.
	_, plan, err := sessions.Revert(ctx, "s1", session.Target{Message: "m2"}, session.MoveOptions{DryRun: true})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d files would change\n", len(plan.Plan))
	state, result, err := sessions.Revert(ctx, "s1", session.Target{Message: "m2"}, session.MoveOptions{Plan: plan.PlanID})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("restored", result.Restored, "deleted", result.Deleted, "messages left:", state.Messages)

	if _, result, err = sessions.Unrevert(ctx, "s1", session.MoveOptions{}); err != nil {
		log.Fatal(err)
	}
	fmt.Println("restored", result.Restored)

	// Output:
	// step 1 changed 1 files
	// step 2 changed 2 files
	// 2 files would change
	// restored [main.go] deleted [junk] messages left: 1
	// restored [junk main.go]
}
