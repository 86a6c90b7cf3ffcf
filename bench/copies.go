package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn/bench/internal/report"
	"github.com/seed-fb9cbc17/cairn/bench/internal/system"
	"github.com/seed-fb9cbc17/cairn/bench/internal/trees"
)

// Kinds of copies: what every contender of a row makes.
const (
	copyTree = "tree"               // all files of a clean git repository
	copyDeps = "tree, node_modules" // and a directory that git ignores
)

// copyWays are the contenders of each kind, in the order of the table.
var copyWays = map[string][]copyWay{
	copyTree: {{whoCheckout, nil}, {"cp --reflink=auto -a", nil}, {"rsync -a", nil}, {"git worktree add", nil}},
	copyDeps: {{whoCheckout, []string{"--with-ignored"}}, {"cp --reflink=auto -a", nil}, {"rsync -a", nil}},
}

const whoCheckout = "cairn checkout"

type copyWay struct {
	who   string
	flags []string
}

// copiesBench measures copies of one tree on one file system after the other.
type copiesBench struct {
	dir, program, git string
	opt               options
	progress          *system.Progress
	report            copiesReport
}

// copiesReport is what a run found.
type copiesReport struct {
	Version     int            `json:"version"`
	Time        time.Time      `json:"time"`
	Machine     system.Machine `json:"machine"`
	Files       int            `json:"files"`       // of the tree
	Bytes       int64          `json:"bytes"`       // of the tree
	Ignored     int            `json:"ignored"`     // files below node_modules
	IgnoredSize int64          `json:"ignoredSize"` // their bytes
	Rounds      int            `json:"rounds"`
	Samples     []copySample   `json:"samples"`
	Notes       []string       `json:"notes"`
}

// copySample is one measurement. Those of cairn flush by themselves; the others are followed by a flush
// of the file system.
type copySample struct {
	FileSystem string  `json:"fileSystem"`
	Kind       string  `json:"kind"`
	Who        string  `json:"who"`
	Round      int     `json:"round"`
	Seconds    float64 `json:"seconds"` // of the command
	Durable    float64 `json:"durable"` // until the copy is on the disk
	CPUSeconds float64 `json:"cpuSeconds"`
}

// parseImages reads a list of file systems, nil = all.
func parseImages(list string) ([]string, error) {
	if list == "" {
		return nil, nil
	}
	wanted := strings.Split(list, ",")
	for _, name := range wanted {
		if imageKindOf(name) == nil {
			return nil, fmt.Errorf("-on: %q is none of the file systems btrfs, xfs and ext4", name)
		}
	}
	return wanted, nil
}

// imageKindOf finds a file system by its name, nil = none of that name.
func imageKindOf(name string) *imageKind {
	if i := slices.IndexFunc(imageKinds, func(k imageKind) bool { return k.name == name }); i >= 0 {
		return &imageKinds[i]
	}
	return nil
}

// copiesLatency measures copies on each file system that this machine can make.
func copiesLatency(ctx context.Context, opt options, out, diagnostics io.Writer) (err error) {
	dir, err := os.MkdirTemp(opt.cache, "cairn-copies")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	b := &copiesBench{dir: dir, program: opt.cairn, opt: opt, progress: &system.Progress{W: diagnostics, Quiet: opt.quiet}}
	if b.git, err = exec.LookPath("git"); err != nil {
		return err
	}
	if b.program == "" {
		b.program = filepath.Join(dir, "cairn"+exeSuffix)
		if err := buildCairn(b.program); err != nil {
			return err
		}
	}
	b.report = copiesReport{Version: 1, Time: time.Now().UTC().Truncate(time.Second), Machine: system.DescribeMachine(dir, b.git), Rounds: opt.rounds}
	for _, kind := range imageKinds {
		if err = b.on(ctx, kind); err != nil { // what was measured before is kept
			err = fmt.Errorf("%s: %w", kind.name, err)
			b.note("the run ended early: %v", err)
			break
		}
	}
	return errors.Join(err, report.SaveTo(opt.json, b.write), b.print(out))
}

func (b *copiesBench) write(out io.Writer) error { return report.WriteJSON(out, &b.report) }

func (b *copiesBench) note(format string, args ...any) {
	b.report.Notes = append(b.report.Notes, fmt.Sprintf(format, args...))
}

// on measures on one file system.
func (b *copiesBench) on(ctx context.Context, kind imageKind) (err error) {
	if why := kind.missing(b.opt.images); why != "" {
		b.note("not measured on %s: %s", kind.name, why)
		return nil
	}
	b.progress.Say("%s", kind.name)
	place, unmount, err := kind.mount(b.dir, b.imageBytes())
	if err != nil {
		b.note("not measured on %s: %v", kind.name, err)
		return nil
	}
	defer func() { err = errors.Join(err, unmount()) }()
	s := &copySubject{copiesBench: b, fileSystem: kind.name, place: place, env: system.CleanEnv(filepath.Join(b.dir, "home"))}
	if err := s.fill(); err != nil {
		return err
	}
	if err := s.rounds(ctx, copyTree); err != nil {
		return err
	}
	if err := s.install(); err != nil {
		return err
	}
	return s.rounds(ctx, copyDeps)
}

// imageBytes is the size of an image that holds the tree, a repository, a store and one copy. An image
// is sparse.
func (b *copiesBench) imageBytes() int64 {
	return 2<<30 + int64(b.opt.files)*60_000 + 2*trees.IgnoredBytes/int64(b.opt.shrink)
}

// copySubject is a tree on one file system, with a repository and a store beside it.
type copySubject struct {
	*copiesBench
	fileSystem, place string
	env               []string
}

func (s *copySubject) at(name string) string { return filepath.Join(s.place, name) }

func (s *copySubject) run(dir string, argv ...string) error {
	p := &system.Processes{Dir: dir, Env: s.env}
	_, err := p.Run("", argv...)
	return err
}

// fill makes the tree, a commit of all of it whose repository lies beside, and its first checkpoint. What
// git ignores goes.
func (s *copySubject) fill() error {
	tree := s.at("tree")
	synthetic := trees.NewSynthetic(s.opt.files+s.opt.files/40, s.opt.dirs)
	synthetic.Shrink = s.opt.shrink
	if err := errors.Join(os.MkdirAll(tree, 0o755), synthetic.Fill(tree)); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"init", "--quiet", "--template=", "--separate-git-dir=" + s.at("git")},
		{"config", "maintenance.auto", "false"},
		{"clean", "-fdXq"},
		{"-c", "core.bigFileThreshold=1", "-c", "core.compression=1", "add", "."},
		{"-c", "user.name=bench", "-c", "user.email=bench@localhost", "commit", "--quiet", "-m", "all"},
	} {
		if err := s.run(tree, append([]string{s.git}, args...)...); err != nil {
			return err
		}
	}
	if err := s.run(tree, s.cairn("track")...); err != nil {
		return err
	}
	var err error
	s.report.Files, s.report.Bytes, err = sizeOf(tree)
	return err
}

func (s *copySubject) cairn(args ...string) []string {
	return append([]string{s.program, "--data-dir", s.at("data"), "--no-server"}, args...)
}

// install makes node_modules.
func (s *copySubject) install() error {
	d := trees.NewDependencies(s.opt.files, s.opt.dirs)
	d.Packages = max(1, d.Packages/s.opt.shrink)
	if err := d.Install(s.at("tree")); err != nil {
		return err
	}
	if err := s.run(s.at("tree"), s.cairn("track")...); err != nil {
		return err
	}
	var err error
	s.report.Ignored, s.report.IgnoredSize, err = sizeOf(filepath.Join(s.at("tree"), "node_modules"))
	return err
}

// rounds lets all contenders make one kind of copy in turns.
func (s *copySubject) rounds(ctx context.Context, kind string) error {
	var ways []copyWay
	for _, way := range copyWays[kind] {
		if why := way.missing(); why != "" {
			s.note("%s takes no part on %s: %s", way.who, s.fileSystem, why)
			continue
		}
		ways = append(ways, way)
	}
	for round := range s.opt.rounds {
		s.progress.Say("%s, %s: %s", s.fileSystem, kind, roundText(round, s.opt.rounds))
		for _, i := range turn(len(ways), round) {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := s.copy(kind, ways[i], round); err != nil {
				return fmt.Errorf("%s: %w", ways[i].who, err)
			}
		}
	}
	return nil
}

func (w copyWay) missing() string {
	if w.who == whoCheckout {
		return ""
	}
	if _, err := exec.LookPath(w.program()); err != nil {
		return "it is not installed"
	}
	return ""
}

// program is the first word of a contender's name.
func (w copyWay) program() string {
	for i, c := range w.who {
		if c == ' ' {
			return w.who[:i]
		}
	}
	return w.who
}

// argv is the command that makes the copy.
func (s *copySubject) argv(w copyWay) []string {
	tree, to := s.at("tree"), s.at("copy")
	switch w.program() {
	case "cp":
		return []string{"cp", "--reflink=auto", "-a", tree, to}
	case "rsync":
		return []string{"rsync", "-a", tree + "/", to + "/"}
	case "git":
		return []string{s.git, "worktree", "add", "--quiet", "--detach", to}
	}
	return s.cairn(append([]string{"checkout", "@", to}, w.flags...)...)
}

// copy makes a copy on quiet disks, checks it and removes it.
func (s *copySubject) copy(kind string, w copyWay, round int) error {
	system.FlushDisks()
	p := &system.Processes{Dir: s.at("tree"), Env: s.env}
	began := time.Now()
	if _, err := p.Run("", s.argv(w)...); err != nil {
		return err
	}
	sample := copySample{FileSystem: s.fileSystem, Kind: kind, Who: w.who, Round: round, Seconds: time.Since(began).Seconds()}
	if w.who != whoCheckout {
		if err := flushFileSystem(s.at("copy")); err != nil {
			return err
		}
	}
	sample.Durable, sample.CPUSeconds = time.Since(began).Seconds(), p.Used().CPUSeconds
	s.report.Samples = append(s.report.Samples, sample)
	if err := s.check(kind); err != nil {
		return err
	}
	if err := os.RemoveAll(s.at("copy")); err != nil {
		return err
	}
	return s.run(s.at("tree"), s.git, "worktree", "prune")
}

// check fails unless the copy has as many files and bytes as the tree.
func (s *copySubject) check(kind string) error {
	files, bytes, err := sizeOf(s.at("copy"))
	if err != nil {
		return err
	}
	wantFiles, wantBytes := s.report.Files, s.report.Bytes
	if kind == copyDeps {
		wantFiles, wantBytes = wantFiles+s.report.Ignored, wantBytes+s.report.IgnoredSize
	}
	if files != wantFiles || bytes != wantBytes {
		return fmt.Errorf("the copy has %d files of %d bytes, the tree %d of %d", files, bytes, wantFiles, wantBytes)
	}
	return nil
}

// sizeOf counts files and symlinks, and the bytes of files, apart from .git at the top.
func sizeOf(dir string) (files int, bytes int64, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path == filepath.Join(dir, ".git") {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if files++; info.Mode().IsRegular() {
			bytes += info.Size()
		}
		return nil
	})
	return files, bytes, err
}
