package session_test

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/session"
)

func ExampleSessions_Begin() {
	p := newProject()
	defer p.close()
	ctx := context.Background()
	_, err := p.Begin(ctx, session.SessionBegin{ID: "s1", Title: "Tidy up", Meta: map[string]string{session.MetaAgent: "builder"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	list, err := p.List(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range list {
		fmt.Println(s.ID, s.Title, s.Agent, s.Messages, "messages")
	}
	// Output: s1 Tidy up builder 0 messages
}

// A step is bracketed by two captures. Whatever changes the files in between is the step's.
func ExampleSessions_BeginStep() {
	p := newProject()
	defer p.close()
	ctx := context.Background()
	step, err := p.BeginStep(ctx, session.StepBegin{
		Session: "s1", Message: "m1", Role: session.RoleUser, Prompt: "write a file", Paths: []string{"a"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	p.write("a", "by the agent\n")
	done, err := p.EndStep(ctx, session.StepEnd{
		Session: "s1", Step: step.ID, Parts: []session.Part{{ID: "p1", Type: session.PartTool}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, file := range done.Patch.Files {
		fmt.Println(filepath.Base(file))
	}
	messages, err := p.History(ctx, "s1")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, m := range messages {
		fmt.Println(m.ID, m.Prompt, len(m.Steps))
	}
	// Output:
	// a
	// m1 write a file 1
}

// The state before the step is captured while the host waits for the model.
func ExampleSessions_BeginStepAsync() {
	p := newProject()
	defer p.close()
	ctx := context.Background()
	pending, err := p.BeginStepAsync(ctx, session.StepBegin{Session: "s1", Message: "m1", Role: session.RoleUser, Step: "1"})
	if err != nil {
		fmt.Println(err)
		return
	}
	// ... ask the model ...
	if _, err := pending.Wait(ctx); err != nil { // before the first tool runs
		fmt.Println(err)
		return
	}
	p.write("a", "by the agent\n")
	done, err := p.EndStep(ctx, session.StepEnd{Session: "s1", Step: "1"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(done.ID, len(done.Patch.Files))
	// Output: 1 1
}

func ExampleSessions_Revert() {
	p := newProject()
	defer p.close()
	ctx := context.Background()
	p.turn("s1", "m1", func() { p.write("a", "first\n") })
	p.turn("s1", "m2", func() { p.write("a", "second\n"); p.write("junk", "") })
	p.write("mine", "by the user\n")

	s, result, err := p.Revert(ctx, "s1", session.Target{Message: "m2"}, session.MoveOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("restored", result.Restored, "deleted", result.Deleted, "before", s.Revert.Message)
	// Output: restored [a] deleted [junk] before m2
}

func ExampleSessions_Unrevert() {
	p := newProject()
	defer p.close()
	ctx := context.Background()
	p.turn("s1", "m1", func() { p.write("a", "first\n") })
	if _, _, err := p.Revert(ctx, "s1", session.Target{Start: true}, session.MoveOptions{}); err != nil {
		fmt.Println(err)
		return
	}
	s, result, err := p.Unrevert(ctx, "s1", session.MoveOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("restored", result.Restored, "reverted:", s.Revert != nil)
	// Output: restored [a] reverted: false
}

// UndoTurn goes back turn by turn, RedoTurn forth. Commit makes it final.
func ExampleSessions_UndoTurn() {
	p := newProject()
	defer p.close()
	ctx := context.Background()
	p.turn("s1", "m1", func() { p.write("a", "1\n") })
	p.turn("s1", "m2", func() { p.write("b", "2\n") })
	for _, move := range []func(context.Context, string, session.MoveOptions) (*session.Session, *cairn.Result, error){
		p.UndoTurn, p.UndoTurn, p.RedoTurn,
	} {
		_, result, err := move(ctx, "s1", session.MoveOptions{})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println("restored", result.Restored, "deleted", result.Deleted)
	}
	s, err := p.Commit(ctx, "s1")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.Messages, "message is left")
	// Output:
	// restored [] deleted [b]
	// restored [] deleted [a]
	// restored [a] deleted []
	// 1 message is left
}

func ExampleSessions_Fork() {
	p := newProject()
	defer p.close()
	ctx := context.Background()
	p.turn("s1", "m1", func() { p.write("a", "1\n") })
	p.turn("s1", "m2", func() { p.write("a", "2\n") })
	fork, err := p.Fork(ctx, "s1", "m2", "s2")
	if err != nil {
		fmt.Println(err)
		return
	}
	// Files stay until the host asks for the state of the fork.
	result, err := p.repo.Restore(ctx, fork.Fork.Checkpoint, cairn.RestoreOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(fork.ID, fork.Messages, "message, restored", result.Restored)
	// Output: s2 1 message, restored [a]
}

func ExampleSessions_Diff() {
	p := newProject()
	defer p.close()
	p.turn("s1", "m1", func() { p.write("a", "1\n") })
	p.turn("s1", "m2", func() { p.write("b", "2\n") })
	p.write("mine", "by the user\n")
	for d, err := range p.Diff(context.Background(), "s1", session.Scope{}, cairn.DiffOptions{}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s %s +%d -%d\n", d.Status, d.File, d.Additions, d.Deletions)
	}
	// Output:
	// added a +1 -0
	// added b +1 -0
}
