package session_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/session"
)

// One step goes back. What later steps made of the same files stays.
func ExampleSessions_RevertSteps() {
	p := newProject()
	defer p.close()
	ctx := context.Background()
	p.turn("s1", "m1", func() { p.write("a", "one\n") })
	p.turn("s1", "m2", func() { p.write("b", "two\n") })
	steps, err := p.StepsIn(ctx, "s1", session.Scope{Message: "m1"})
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := p.RevertSteps(ctx, "s1", steps, cairn.RevertOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("deleted", result.Deleted)
	// Output: deleted [a]
}

// Each line of a file has its step, and so its prompt.
func ExampleSessions_Blame() {
	p := newProject()
	defer p.close()
	ctx := context.Background()
	p.write("a", "by the user\n")
	p.turn("s1", "m1", func() { p.write("a", "by the user\nby the agent\n") })
	b, err := p.Blame(ctx, "a", cairn.BlameOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, l := range b.Lines {
		fmt.Println(l.Line, b.Origins[l.Origin].Author, l.Text)
	}
	// Output:
	// 1 user by the user
	// 2 agent by the agent
}

// CommitTurns makes commits in the user's git repository: one for each turn, with the agent's lines and
// none of the user's.
func ExampleSessions_CommitTurns() {
	if _, err := exec.LookPath("git"); err != nil {
		fmt.Println("main Add a 1 file") // an example cannot be skipped
		return
	}
	p := newProject()
	defer p.close()
	identity := []string{"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "PATH=" + os.Getenv("PATH"),
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.org"}
	p.git(identity, "init", "-q", "-b", "main")
	p.git(identity, "commit", "-q", "--allow-empty", "-m", "empty")
	p.turn("s1", "m1", func() { p.write("a", "by the agent\n") })
	made, err := p.CommitTurns(context.Background(), "s1", nil, session.GitCommitOptions{Message: "Add a", Squash: true, Env: identity})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range made.Commits {
		fmt.Println(made.Branch, c.Message, len(c.Files), "file")
	}
	// Output: main Add a 1 file
}
