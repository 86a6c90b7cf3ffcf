package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/bench/internal/system"
)

// perMachine is the number of lines of each machine of a fleet, perProject the number of machines of each project.
const (
	perMachine = 100
	perProject = 10
)

// fleetForm is a way in which a remote stores its refs and is reached.
type fleetForm struct {
	name   string
	served bool // by git daemon on the loopback, else by path
	spaces bool // each project has a namespace, and the server hides the others
	write  func(b *fleetBench, remote string, refs []fleetRef) error
}

var fleetForms = []fleetForm{
	{name: "packed", write: writePacked},
	{name: "loose", write: writeLoose},
	{name: reftable, write: writeReftable},
	{name: "packed, git daemon", served: true, write: writePacked},
	{name: "packed, git daemon, namespaces", served: true, spaces: true, write: writePacked},
}

const reftable = "reftable"

// fleetRef is a line of a fleet or the note about the lines of a machine.
type fleetRef struct{ name, id string }

// namespace is the beginning of the refs of a project on a server with namespaces.
func namespace(project int) string { return fmt.Sprintf("refs/namespaces/p%d/", project) }

// fleetRefs names the lines and the notes of a fleet, sorted.
func (f *fleetForm) fleetRefs(tips []string, note string) []fleetRef {
	refs := make([]fleetRef, 0, len(tips)+len(tips)/perMachine)
	for i, id := range tips {
		machine := i / perMachine
		project := machine / perProject
		space := ""
		if f.spaces {
			space = namespace(project)
		}
		refs = append(refs, fleetRef{fmt.Sprintf("%srefs/cairn/%016x/%016x/sessions/s%d", space, project, machine, i), id})
		if i%perMachine == 0 {
			refs = append(refs, fleetRef{fmt.Sprintf("%srefs/cairn/about/%016x/%016x", space, project, machine), note})
		}
	}
	slices.SortFunc(refs, func(x, y fleetRef) int { return strings.Compare(x.name, y.name) })
	return refs
}

// fleetObjects are the commits of a fleet, in an objects directory that moves from one remote to the next.
type fleetObjects struct {
	dir  string
	tips []string
	note string // blob
}

// generate makes the objects of a fleet.
func (b *fleetBench) generate(refs, checkpoints int) (o fleetObjects, err error) {
	remote := filepath.Join(b.dir, "made.git")
	if _, err := b.processes.Run("", b.git, "init", "--quiet", "--bare", "--template=", remote); err != nil {
		return o, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(remote)) }()
	if o.note, err = b.processes.Run("{}\n", b.git, "--git-dir="+remote, "hash-object", "-w", "--stdin"); err != nil {
		return o, err
	}
	o.note = strings.TrimSpace(o.note)
	if refs > 0 {
		if o.tips, err = b.importLines(remote, refs, checkpoints/refs); err != nil {
			return o, err
		}
	}
	o.dir = filepath.Join(b.dir, "objects")
	return o, os.Rename(filepath.Join(remote, "objects"), o.dir)
}

// importLines lets git write lines of commits in a pack, and returns their tips.
func (b *fleetBench) importLines(remote string, refs, length int) ([]string, error) {
	stream, marks := filepath.Join(b.dir, "stream"), filepath.Join(b.dir, "marks")
	if err := writeStream(stream, refs, length); err != nil {
		return nil, err
	}
	defer os.Remove(stream)
	in, err := os.Open(stream)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	cmd := exec.Command(b.git, "--git-dir="+remote, "fast-import", "--quiet", "--export-marks="+marks)
	cmd.Stdin, cmd.Env = in, b.processes.Env
	if err := b.processes.Finish(cmd); err != nil {
		return nil, err
	}
	return readMarks(marks, refs)
}

// fleetBranch is the branch that fast-import writes to, one line after the other.
const fleetBranch = "refs/heads/fleet"

// writeStream writes lines of commits for git fast-import. The tip of line i has the mark i+1. The lines share
// their trees.
func writeStream(file string, refs, length int) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	for i := range refs {
		fmt.Fprintf(w, "reset %s\n\n", fleetBranch)
		for n := range length {
			fmt.Fprintf(w, "commit %s\n", fleetBranch)
			if n == length-1 {
				fmt.Fprintf(w, "mark :%d\n", i+1)
			}
			message, text := fmt.Sprint("line ", i), fmt.Sprintf("checkpoint %d\n", n)
			fmt.Fprintf(w, "committer a <a@example.org> %d +0000\ndata %d\n%s\nM 644 inline file\ndata %d\n%s\n",
				1_700_000_000+n, len(message), message, len(text), text)
		}
	}
	return errors.Join(w.Flush(), f.Close())
}

func readMarks(file string, refs int) ([]string, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	tips := make([]string, refs)
	for line := range strings.Lines(string(data)) {
		var mark int
		var id string
		if _, err := fmt.Sscanf(line, ":%d %s", &mark, &id); err != nil || mark < 1 || mark > refs {
			return nil, fmt.Errorf("%s: %q is no mark", file, line)
		}
		tips[mark-1] = id
	}
	return tips, nil
}

// make makes a remote of a form with the objects of a fleet, or an empty one. The caller gives the objects back.
func (b *fleetBench) make(form *fleetForm, remote string, o fleetObjects) error {
	args := []string{b.git, "init", "--quiet", "--bare", "--template=", remote}
	if form.name == reftable {
		args = append(args, "--ref-format=reftable")
	}
	if _, err := b.processes.Run("", args...); err != nil {
		return err
	}
	if objects := filepath.Join(remote, "objects"); o.dir != "" {
		if err := errors.Join(os.RemoveAll(objects), os.Rename(o.dir, objects)); err != nil {
			return err
		}
	}
	if err := form.write(b, remote, form.fleetRefs(o.tips, o.note)); err != nil || !form.spaces {
		return err
	}
	for _, setting := range [][2]string{
		{"transfer.hideRefs", "^refs/"}, {"transfer.hideRefs", "!refs/cairn/"}, // all refs by their full names, but those of the namespace
		{"core.alternateRefsPrefixes", "refs/none/"},
	} {
		if _, err := b.processes.Run("", b.git, "--git-dir="+remote, "config", "--add", setting[0], setting[1]); err != nil {
			return err
		}
	}
	return nil
}

func writePacked(_ *fleetBench, remote string, refs []fleetRef) error {
	var text strings.Builder
	text.WriteString("# pack-refs with: peeled fully-peeled sorted \n")
	for _, ref := range refs {
		text.WriteString(ref.id + " " + ref.name + "\n")
	}
	return os.WriteFile(filepath.Join(remote, "packed-refs"), []byte(text.String()), 0o644)
}

func writeLoose(_ *fleetBench, remote string, refs []fleetRef) error {
	for _, ref := range refs {
		file := filepath.Join(remote, filepath.FromSlash(ref.name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte(ref.id+"\n"), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func writeReftable(b *fleetBench, remote string, refs []fleetRef) error {
	var text strings.Builder
	for _, ref := range refs {
		text.WriteString("create " + ref.name + " " + ref.id + "\n")
	}
	_, err := b.processes.Run(text.String(), b.git, "--git-dir="+remote, "update-ref", "--stdin")
	return err
}

// hasReftable reports whether git can store refs so.
func (b *fleetBench) hasReftable() bool {
	dir := filepath.Join(b.dir, "try.git")
	defer os.RemoveAll(dir)
	_, err := b.processes.Run("", b.git, "init", "--quiet", "--bare", "--ref-format=reftable", dir)
	return err == nil
}

// newProcesses returns what runs git for the fleet.
func newProcesses(dir string) *system.Processes {
	return &system.Processes{Dir: dir, Env: system.CleanEnv(dir)}
}
