package conformance

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// hands carries out ops itself, where the tools of a real agent add nothing.
type hands struct{ dir string }

func (h *hands) do(op Op) error {
	switch {
	case op.Write != "":
		return os.WriteFile(filepath.Join(h.dir, op.Write), []byte(op.Text), 0o644)
	case op.Edit != "":
		path := filepath.Join(h.dir, op.Edit)
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if !bytes.Contains(data, []byte(op.Old)) {
			return fmt.Errorf("%s does not contain %q", op.Edit, op.Old)
		}
		return os.WriteFile(path, bytes.Replace(data, []byte(op.Old), []byte(op.New), 1), 0o644)
	}
	_, err := h.run(op.Shell)
	return err
}

// run runs a shell command with a home and an environment of its own.
func (h *hands) run(command string, env ...string) (string, error) {
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir, cmd.Env = h.dir, append(cleanEnvironment(h.dir), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return string(out), fmt.Errorf("%s: %w: %s", command, err, out)
	}
	return string(out), nil
}

func cleanEnvironment(dir string) []string {
	return []string{
		"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + filepath.Join(filepath.Dir(dir), "home"), "LC_ALL=C.UTF-8", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=agent", "GIT_AUTHOR_EMAIL=agent@example.com", "GIT_COMMITTER_NAME=agent", "GIT_COMMITTER_EMAIL=agent@example.com",
	}
}

// Cairn drives cairn through its hooks, in the neutral protocol, with a process for each event.
type Cairn struct {
	Program string // path of cairn

	hands
	turns, calls int
}

// Start begins the sessions.
func (c *Cairn) Start(dir string) error {
	c.dir = dir
	return c.event(nil, map[string]any{"event": "session", "session": "one"})
}

func (c *Cairn) command() *exec.Cmd {
	cmd := exec.Command(c.Program, "hook", "conformance")
	cmd.Dir = c.dir
	cmd.Env = append(cleanEnvironment(c.dir), "CAIRN_DATA_DIR="+filepath.Join(filepath.Dir(c.dir), "data"), "CAIRN_NO_BACKGROUND=1")
	return cmd
}

// event sends an event. The process is killed when kill is closed.
func (c *Cairn) event(kill <-chan time.Time, fields map[string]any) error {
	fields["cwd"] = c.dir
	data, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	cmd := c.command()
	var out bytes.Buffer
	cmd.Stdin, cmd.Stdout = bytes.NewReader(data), &out
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err = <-ended:
	case <-kill:
		_ = cmd.Process.Kill() // it may just have ended
		<-ended
		return nil
	}
	var answer struct {
		OK    bool
		Error string
	}
	if err == nil {
		err = json.Unmarshal(out.Bytes(), &answer)
	}
	if err == nil && !answer.OK {
		err = errors.New(answer.Error)
	}
	return err
}

// Turn plays a turn: each op is a step.
func (c *Cairn) Turn(session string, ops []Op) error {
	c.turns++
	message := fmt.Sprintf("turn %d", c.turns)
	if err := c.event(nil, map[string]any{"event": "prompt", "session": session, "message": message, "prompt": message}); err != nil {
		return err
	}
	for _, op := range ops {
		c.calls++
		e := map[string]any{
			"session": session, "message": message, "call": fmt.Sprintf("call %d", c.calls),
			"tool": "bash", "input": map[string]string{"command": op.Shell},
		}
		if path := op.Write + op.Edit; path != "" {
			e["tool"], e["input"] = "write", map[string]string{"path": path}
		}
		for _, do := range []func() error{
			func() error { e["event"] = "before"; return c.event(nil, e) },
			func() error { return c.do(op) },
			func() error { e["event"] = "after"; return c.event(nil, e) },
		} {
			if err := do(); err != nil {
				return err
			}
		}
	}
	return c.event(nil, map[string]any{"event": "stop", "session": session})
}

func (c *Cairn) Undo(session string) error { return c.typed(nil, session, "undo") }

func (c *Cairn) Redo(session string) error { return c.typed(nil, session, "redo") }

func (c *Cairn) KillUndo(session string, after time.Duration) error {
	return c.typed(time.After(after), session, "undo")
}

func (c *Cairn) typed(kill <-chan time.Time, session, verb string) error {
	return c.event(kill, map[string]any{"event": "typed", "session": session, "prompt": "cairn " + verb})
}

func (c *Cairn) Stop() error { return nil }

// Checkout is git as many tools use it: the whole tree is added before a turn, undo checks it out and
// removes all else.
type Checkout struct {
	hands
	before, undone []string // trees
}

func (g *Checkout) Start(dir string) error {
	g.dir = dir
	return os.MkdirAll(filepath.Join(filepath.Dir(dir), "home"), 0o755)
}

// tree adds all files to an index beside the user's.
func (g *Checkout) tree() (string, error) {
	index := "GIT_INDEX_FILE=" + filepath.Join(filepath.Dir(g.dir), "index")
	out, err := g.run("git rev-parse --git-dir >/dev/null 2>&1 || git init -q; git add -A && git write-tree", index)
	return strings.TrimSpace(out), err
}

func (g *Checkout) Turn(_ string, ops []Op) error {
	tree, err := g.tree()
	if err != nil {
		return err
	}
	g.before, g.undone = append(g.before, tree), nil
	for _, op := range ops {
		if err := g.do(op); err != nil {
			return err
		}
	}
	return nil
}

func (g *Checkout) Undo(string) error { return g.move(&g.before, &g.undone) }

func (g *Checkout) Redo(string) error { return g.move(&g.undone, &g.before) }

// move checks the newest tree of a list out and adds the present one to another.
func (g *Checkout) move(from, to *[]string) error {
	if len(*from) == 0 {
		return errors.New("nothing there")
	}
	now, err := g.tree()
	if err != nil {
		return err
	}
	last := len(*from) - 1
	index := "GIT_INDEX_FILE=" + filepath.Join(filepath.Dir(g.dir), "index")
	if _, err := g.run("git read-tree "+(*from)[last]+" && git checkout-index -fa && git clean -fdq", index); err != nil {
		return err
	}
	*from, *to = (*from)[:last], append(*to, now)
	return nil
}

func (g *Checkout) Stop() error { return nil }

// Stash is git stash, as people use it by hand: undo stashes uncommitted changes, redo pops them.
type Stash struct{ hands }

func (g *Stash) Start(dir string) error {
	g.dir = dir
	return os.MkdirAll(filepath.Join(filepath.Dir(dir), "home"), 0o755)
}

func (g *Stash) Turn(_ string, ops []Op) error {
	for _, op := range ops {
		if err := g.do(op); err != nil {
			return err
		}
	}
	return nil
}

func (g *Stash) Undo(string) error {
	_, err := g.run("git stash push -q --include-untracked")
	return err
}

func (g *Stash) Redo(string) error { _, err := g.run("git stash pop -q"); return err }

func (g *Stash) Stop() error { return nil }
