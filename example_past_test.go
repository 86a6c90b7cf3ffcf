package cairn_test

import (
	"context"
	"fmt"
	"time"

	"github.com/seed-fb9cbc17/cairn"
)

func ExampleRepo_Log() {
	p := newProject()
	defer p.close()
	ctx := context.Background()
	for _, text := range []string{"one", "two"} {
		p.write(text, text)
		if _, err := p.repo.Track(ctx, cairn.TrackOptions{Message: "write " + text}); err != nil {
			fmt.Println(err)
			return
		}
	}
	for c, err := range p.repo.Log(ctx, cairn.LogOptions{Paths: []string{"one"}}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(c.Message)
	}
	// Output: write one
}

func ExampleRepo_Grep() {
	p := newProject()
	defer p.close()
	p.write("a", "one\ntwo\n")
	pattern, err := cairn.ParsePattern("tw.", cairn.PatternOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for f, err := range p.repo.Grep(context.Background(), pattern, cairn.GrepOptions{}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, i := range f.Matches {
			fmt.Printf("%s:%d:%s\n", f.Path, i+1, f.Lines[i])
		}
	}
	// Output: a:2:two
}

func ExampleRepo_Redo() {
	p := newProject()
	defer p.close()
	ctx := context.Background()
	p.write("a", "one\n")
	before := p.track()
	p.write("a", "two\n")
	if _, err := p.repo.Restore(ctx, before, cairn.RestoreOptions{}); err != nil {
		fmt.Println(err)
		return
	}
	for _, move := range []func(context.Context, cairn.RevertOptions) (*cairn.Result, error){p.repo.Undo, p.repo.Redo} {
		if _, err := move(ctx, cairn.RevertOptions{}); err != nil {
			fmt.Println(err)
			return
		}
	}
	for op, err := range p.repo.Operations(ctx) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(op.Kind, op.Paths)
	}
	// Output:
	// redo [a]
	// undo [a]
	// restore [a]
}

func ExampleRepo_NoteTest() {
	p := newProject()
	defer p.close()
	ctx := context.Background()
	p.write("a", "works\n")
	t, err := p.repo.Track(ctx, cairn.TrackOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	passed := cairn.TestResult{Checkpoint: t.Checkpoint, Command: cairn.Paths{"make", "test"}, When: time.Now()}
	if err := p.repo.NoteTest(ctx, passed); err != nil {
		fmt.Println(err)
		return
	}
	p.write("a", "broken\n")
	result, err := p.repo.Restore(ctx, "@green", cairn.RestoreOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("restored", result.Restored)
	// Output: restored [a]
}

func ExampleRepo_Verify() {
	p := newProject()
	defer p.close()
	p.write("a", "one\n")
	p.track()
	report, err := p.repo.Verify(context.Background(), cairn.VerifyOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(report.Sound, report.Checkpoints, len(report.Gaps))
	// Output: true 1 0
}

// Push and Fetch use git. The remote is any repository that git can push to.
func ExampleRepo_Push() {
	p := newProject()
	defer p.close()
	ctx := context.Background()
	p.track()
	pushed, err := p.repo.Push(ctx, "git@example.org:checkpoints.git")
	if err != nil {
		fmt.Println(err)
		return
	}
	fetched, err := p.repo.Fetch(ctx, "") // the same remote
	fmt.Println(len(pushed), len(fetched), err)
}
