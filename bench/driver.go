package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn/bench/internal/names"
	"github.com/seed-fb9cbc17/cairn/bench/internal/peers"
	"github.com/seed-fb9cbc17/cairn/bench/internal/report"
	"github.com/seed-fb9cbc17/cairn/bench/internal/system"
	"github.com/seed-fb9cbc17/cairn/bench/internal/trees"
)

// driver has every operation carried out by every contender in turn.
type driver struct {
	ctx      context.Context
	opt      options
	scratch  string
	corpus   trees.Corpus
	git      string
	cairn    string // program
	restic   string // program
	jujutsu  string // program
	empty    string // a program that does nothing
	progress *system.Progress

	present  []string // the contenders that this machine has
	subjects []*peers.Remote
	edits    *trees.Edits
	more     *trees.Edits           // a larger number of them
	captured []string               // files that no rule ignores, '/'-separated
	ignored  map[string]bool        // directories that a rule does
	begun    map[*peers.Remote]bool // contenders with a store
	trees    map[string]string      // operation and round -> id that the first contender gave
	report   *report.Report
}

// prepare makes the programs, the trees and the workers.
func (d *driver) prepare() (err error) {
	if err := d.build(); err != nil {
		return err
	}
	d.leaveOut()
	if err := d.checkRoom(); err != nil {
		return err
	}
	filled := make(map[string]bool)
	for _, name := range d.present {
		s := d.settingOf(name)
		if !filled[s.Root] {
			filled[s.Root] = true
			d.progress.Say("%s of %s", filepath.Base(s.Root), name)
			if err := errors.Join(os.MkdirAll(s.Root, 0o755), d.corpus.Fill(s.Root)); err != nil {
				return err
			}
		}
		r, err := peers.StartWorker(s)
		if err != nil {
			return err
		}
		d.subjects = append(d.subjects, r)
		if err := d.ctx.Err(); err != nil {
			return err
		}
	}
	return d.chooseEdits()
}

// leaveOut notes which contenders this machine does not have.
func (d *driver) leaveOut() {
	d.present = nil
	for _, name := range d.opt.contenders {
		if why := peers.Missing(name, d.git); why != "" {
			d.report.Note("%s", why)
			continue
		}
		d.present = append(d.present, name)
	}
	d.restic, _ = exec.LookPath(names.Restic)
	d.jujutsu, _ = exec.LookPath(names.Jujutsu)
}

func (d *driver) settingOf(name string) peers.Setting {
	tree := peers.KindOf(name).Tree
	if d.opt.oneTree {
		tree = peers.TreeCairn
	}
	s := peers.Setting{
		Kind: name, Root: filepath.Join(d.scratch, tree), Store: filepath.Join(d.scratch, contendersDir, name, "data"),
		Home: filepath.Join(d.scratch, "home"), Git: d.git, Cairn: d.cairn, Restic: d.restic, Jujutsu: d.jujutsu,
		Repository: d.opt.repository, OneTree: d.opt.oneTree, Alone: true,
	}
	if name == names.Jujutsu {
		s.Store = filepath.Join(s.Root, ".jj")
	}
	return s
}

// contendersDir has a directory for each contender.
const contendersDir = "contenders"

// roots are the trees that contenders work in.
func (d *driver) roots() (roots []string) {
	for _, s := range d.subjects {
		if !slices.Contains(roots, s.Root) {
			roots = append(roots, s.Root)
		}
	}
	return roots
}

func (d *driver) build() (err error) {
	switch {
	case d.opt.cairn != "":
		d.cairn, err = filepath.Abs(d.opt.cairn)
	case slices.Contains(d.opt.contenders, names.CLI) || slices.Contains(d.opt.contenders, names.Served):
		d.progress.Say("building cairn")
		d.cairn = filepath.Join(d.scratch, "cairn"+exeSuffix)
		err = buildCairn(d.cairn)
	}
	if err == nil && d.opt.profile != "" {
		err = os.MkdirAll(d.opt.profile, 0o755)
	}
	if err != nil {
		return err
	}
	d.empty, err = buildEmpty(d.scratch)
	return err
}

// chooseEdits asks git which files are ignored.
func (d *driver) chooseEdits() error {
	root := d.subjects[0].Root
	p := system.Processes{Dir: root, Env: system.CleanEnv(d.subjects[0].Home)}
	list := filepath.Join(d.scratch, "list.git")
	if _, err := p.Run("", d.git, "init", "--quiet", "--bare", list); err != nil {
		return err
	}
	others := []string{d.git, "--git-dir", list, "--work-tree", root, "ls-files", "-z", "--others", "--exclude-standard"}
	out, err := p.Run("", others...)
	if err != nil {
		return err
	}
	d.captured = peers.NulSeparated(out)
	if out, err = p.Run("", append(others, "--ignored", "--directory")...); err != nil {
		return err
	}
	d.ignored = make(map[string]bool)
	for _, path := range peers.NulSeparated(out) {
		if dir, ok := strings.CutSuffix(path, "/"); ok {
			d.ignored[dir] = true
		}
	}
	if d.edits, err = trees.ChooseEdits(root, d.captured, names.ManyFiles); err != nil {
		return err
	}
	d.more, err = trees.ChooseEdits(root, d.captured, names.LargeFiles)
	return err
}

// close ends the workers.
func (d *driver) close() error {
	var errs []error
	for _, s := range d.subjects {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}

// tree is where floors are measured: where cairn works.
func (d *driver) tree() string {
	for _, s := range d.subjects {
		if s.Kind == names.CLI {
			return s.Root
		}
	}
	return d.subjects[len(d.subjects)-1].Root
}

// Light operations get a first round that is not counted; of heavy ones every round
// counts, the trees and stores being in the page cache already.
const (
	light = -1
	heavy = 0
)

// slowRound is how long a heavy operation may take a contender to be repeated. One that is
// faster gains from the median of several, and the run takes hardly longer. slowInTable is the
// same of every operation of -table, which is to be done in 20 minutes.
const (
	slowRound   = 20 * time.Second
	slowInTable = 4 * time.Second
)

// bearableFiles is how many files OpenCode can restore without taking minutes for the
// track that follows: it hands git add a list of all that were written, which git
// matches with all that there is.
const bearableFiles = 50_000

// profileOf begins a processor profile of a Repo that a worker holds, where one is asked
// for, and ends it without an operation.
func (d *driver) profileOf(s *peers.Remote, op string) error {
	if d.opt.profile == "" || s == nil || s.Kind != names.Library && s.Kind != names.Watching {
		return nil
	}
	req := peers.Request{Op: peers.OpProfileEnded}
	if op != "" {
		req = peers.Request{Op: peers.OpProfile, Profile: filepath.Join(d.opt.profile, op+"-"+s.Kind+".pprof")}
	}
	_, err := s.Do(req)
	return err
}

// describe fills in what is known of the corpus.
func (d *driver) describe() error {
	size, err := trees.WorkTreeSize(d.tree())
	if err != nil {
		return err
	}
	d.report.Corpus.Name, d.report.Corpus.TreeSize = d.corpus.Name(), size
	d.report.Corpus.Repository, d.report.Corpus.OneTree = d.opt.repository, d.opt.oneTree
	d.report.Rounds, d.report.HeavyRounds = d.opt.rounds, d.opt.rounds
	if d.opt.heavy > 0 {
		d.report.HeavyRounds = min(d.opt.rounds, d.opt.heavy)
	}
	d.report.Edited, d.report.EditedLarge = len(d.edits.Paths), len(d.more.Paths)
	if need := size.Allocated*int64(len(d.roots())) + size.Bytes*int64(len(d.subjects))/2; d.report.Machine.MemoryBytes > 0 && need > d.report.Machine.MemoryBytes*2/3 {
		d.report.Note("memory is too small to keep all trees in the page cache: the times hold reads from the disk")
	}
	d.report.Corpus.Captured, d.report.Corpus.CapturedDirs = len(d.captured), countDirs(d.captured)
	if d.report.Corpus.CapturedBytes, err = trees.ReadAll(d.tree(), d.captured); err != nil {
		return err
	}
	d.report.Throughput, err = measureThroughput(d.tree(), d.captured)
	return err
}

// countDirs counts the directories that paths lie in, the root included.
func countDirs(paths []string) int {
	dirs := make(map[string]bool)
	for _, p := range paths {
		for dir := path.Dir(p); !dirs[dir]; dir = path.Dir(dir) {
			dirs[dir] = true
		}
	}
	return len(dirs)
}

var exeSuffix = map[bool]string{true: ".exe"}[runtime.GOOS == "windows"]
