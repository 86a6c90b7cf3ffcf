package session_test

import (
	"context"
	"log"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/session"
)

// project is the directory of an example, with its sessions.
type project struct {
	*session.Sessions
	base, dir string
	repo      *cairn.Repo
}

func newProject() *project {
	base, err := os.MkdirTemp("", "cairn-example")
	check(err)
	p := &project{base: base, dir: filepath.Join(base, "project")}
	check(os.Mkdir(p.dir, 0o755))
	p.repo, err = cairn.Open(cairn.Options{Root: p.dir, DataDir: filepath.Join(base, "data")})
	check(err)
	p.Sessions = session.New(p.repo)
	return p
}

func (p *project) close() {
	check(p.repo.Close())
	check(os.RemoveAll(p.base))
}

func (p *project) write(name, text string) {
	check(os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o644))
}

// git runs git in the project.
func (p *project) git(env []string, args ...string) {
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = p.dir, env
	check(cmd.Run())
}

// turn records a message of the user and one step that answers it.
func (p *project) turn(id, message string, tools func()) {
	ctx := context.Background()
	step, err := p.BeginStep(ctx, session.StepBegin{Session: id, Message: message, Role: session.RoleUser})
	check(err)
	tools()
	_, err = p.EndStep(ctx, session.StepEnd{Session: id, Step: step.ID})
	check(err)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
