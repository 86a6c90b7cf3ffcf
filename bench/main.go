package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"time"

	"github.com/seed-fb9cbc17/cairn/bench/internal/figures"
	"github.com/seed-fb9cbc17/cairn/bench/internal/peers"
	"github.com/seed-fb9cbc17/cairn/bench/internal/report"
	"github.com/seed-fb9cbc17/cairn/bench/internal/system"
	"github.com/seed-fb9cbc17/cairn/bench/internal/trees"
)

const usageText = `usage: go -C bench run . [options]

Times cairn against the git commands that it replaces, against others that take
checkpoints, and against what the machine can do at best, in one run, and prints
tables. Relative names of files start in the directory bench.

  -corpus NAME      synthetic  a made-up source tree, the same on every machine (default)
                    ignored    the same beside 1 GiB of ignored dependencies
                    small      the source of a program in Go, 5,000 files, from the
                               module proxy
                    linux      the source of Linux 6.1, fetched from Debian once (140 MB)
                    DIR        any directory; it is copied and only read
  -files N          files of the synthetic tree, default 10000
  -dirs N           directories of the synthetic tree, default files/15
  -shrink N         divide the sizes of its files by N
  -repository       the trees are git repositories, committed and clean
  -loose            no object of these repositories is packed, as after git add of
                    everything
  -one-tree         all contenders work in one tree, which saves room; who rewrites
                    every file then restores nothing
  -n N              rounds, default 5; the tables show medians
  -heavy N          rounds of first tracks, restores and reverts, default as -n
  -in-row N         tracks in a row where one takes microseconds, default 300
  -only LIST        operations to time, separated by commas; -only help lists them
  -contenders LIST  default all that fit; see below
  -cairn FILE       a cairn program to time instead of the one built from this source
  -cache DIR        where trees and stores lie, default the user's cache directory;
                    what they need has to be free before anything is written
  -keep             do not remove trees and stores at the end
  -no-flush         do not flush the disks before each measurement: where other
                    programs write a lot, flushing takes longer than measuring
  -json FILE        write all samples; a bare name goes to bench/results
  -benchstat FILE   the same as benchstat reads it
  -profile DIR      write processor profiles of the library, watching or not, for each
                    operation
  -quiet            no progress on stderr

  -all              instead measure one corpus after the other and write all samples
                    and tables to two files, by default bench/results/all.json and
                    all.md; -files and -n are upper limits then. It takes three quarters
                    of an hour on two processors and at most 15 GB
  -update           of the corpora that are left out keep what the file has
  -without LIST     corpora that -all leaves out, from
                    small    as a repository
                    10k      synthetic, 10,000 files
                    ignored  the same beside 1 GiB of ignored dependencies
                    linux    as a repository
                    100k     synthetic, 100,000 files
                    500k     synthetic, 500,000 files of a quarter of the size, one
                             tree for all, without restic

  -table            instead measure the public table, what users compare, and write
                    bench/results/table.json and table.md; -files, -n, -update and
                    -without are as with -all. It takes 20 minutes on two processors and
                    at most 15 GB. PATH=$(../.ci/newestpeers):$PATH before it brings the
                    newest git, jj and restic. Its corpora: small, linux, 100k, and
                    loose, 80,000 files whose objects are all loose
  -quote            instead put the table of -json FILE, by default table.json, into
                    README.md and docs/speed.md
  -large            instead measure trees that are large in one way, and a tenth of
                    each, and write large.json and large.md; -files is an upper limit.
                    It takes ten minutes and 12 GB

  -growth N         instead let a store grow by N tracks of one edited file each, with
                    a cleaning after every 360: 10000 is a week

  -curves           instead measure how costs grow: with the number of files up to
                    -files, of changed files, of checkpoints kept, and of files of a
                    turn that is taken back; all of it takes -files 500000, and 6 GB of
                    room; parts by -only, from files,changed,kept,back
  -checkpoints N    most checkpoints with -curves and -fleet, default 10000
  -plot FILE        instead draw the curves of a -json file as SVG files beside it, and
                    print how each grows

  -agents           instead measure how long each agent waits for cairn at a prompt,
                    before and after a tool and at the end of a turn, without and with
                    a server, in a tree of -files files, -n sessions each: 80000 is
                    what the goals are about
  -think DURATION   of the model before each call of a tool; default 300ms

  -fleet N          instead measure a push of one turn, a fetch of one session and a list
                    on a remote with up to N refs of other machines, 100 of each, and
                    -checkpoints commits behind them: packed, loose and reftable, by
                    path and by git daemon; 100000 is a thousand machines

  -copies           instead measure copies of a tree of -files files, and of that and
                    1 GB of node_modules: cairn checkout beside cp, rsync and git
                    worktree add, on file systems in images that it makes and mounts;
                    80000 files take 10 GB in -cache. Only root on Linux can mount
  -on LIST          with -copies: file systems, from btrfs,xfs,ext4. Without: the one on
                    which trees and stores lie, in an image below -cache

  -serve            instead put a server under load: sessions that work at once, a
                    step each -pace, each changing one file
  -sessions N       default 50
  -projects N       that the server watches, of -files files each; default 5
  -worked N         projects that the sessions share, default all
  -rest DURATION    first let the server watch while nothing happens
  -lasts DURATION   default 1m
  -pace DURATION    from step to step of a session, on average; default 2s, which is
                    several times as fast as agents are

The contenders
  spec                 git add . && git write-tree and so on, as the specification of
                       the snapshots has it, with its own git directory and no
                       configuration
  git-untracked-cache  the same with git's untracked cache, index version 4 and
                       feature.manyFiles; tracks and patches, the rest is the same
  git-fsmonitor        the same with git's file-system monitor, too, where git has one
  opencode             what OpenCode 1.18 runs, in a repository without commits
  opencode-newest      the same with -repository: it borrows the repository's objects
                       and index. With more than 50,000 files both restore only where
                       -only names it: the track that follows takes minutes
  restic               restic backup, restore and diff, if it is installed. It gets the
                       ignored paths as a list; its diff gives names only, its restore
                       rewrites every file, and the repository is made beforehand
  jj                   its commands, if it is installed; each records the tree first, and
                       its diff has the changed lines only. In a repository it borrows
  cp                   cp -a --reflink=auto of all but .git, and back
  cairn                the program, one process for each operation
  cairn-library        the Go package, in a process that stays
  cairn-watching       the same with Options.Watch, begun with a copy of cairn's store
  cairn-served         the program beside a server, likewise. -all goes without this one,
                       jj and cp

What is timed
  Those who rewrite all files in a restore share a tree, and those of cairn share
  another with equal contents, in the page cache. An edit counts once for each. They
  take turns, in an order that changes; before each measurement the disks are flushed.
  What takes microseconds is timed many times in a row, without flushing.
  The first track begins without a store and borrows nothing. With -repository the
  row "borrowed" is that of those who take over objects of a repository, and
  cairn's ratio there is to a first track of the others without. Opening is what
  sets watching up. Restore finds 100 edited files that have not been tracked, revert
  gets the list that a patch gave. All results are checked.

The floors
  walk   list every directory and take the status of every entry, on all processors,
         without entering what is ignored
  store  read every file, SHA-1 and zlib level 1 at the measured speed, on all processors
  spawn  start a program that does nothing
  write  write the files that go back, all on the disk before they get their names, and
         flush the directories

The exit status does not depend on the times.
`

func main() {
	if len(os.Args) == 2 && os.Args[1] == peers.WorkerWord {
		exit(peers.Work(os.Stdin, os.Stdout))
	}
	opt, err := parseOptions(os.Args[1:])
	if errors.Is(err, flag.ErrHelp) {
		fmt.Print(usageText)
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	run := bench
	switch {
	case opt.all, opt.table:
		run = benchAll
	case opt.large:
		run = benchLarge
	case opt.quote:
		run = quote
	case opt.serve:
		run = serveBench
	case opt.agents:
		run = agentLatency
	case opt.fleet > 0:
		run = fleetLatency
	case opt.copies:
		run = copiesLatency
	case opt.plot != "":
		run = func(_ context.Context, opt options, out, _ io.Writer) error { return figures.PlotFile(opt.plot, out) }
	}
	exit(run(ctx, opt, os.Stdout, os.Stderr))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// bench makes one run and prints what it found.
func bench(ctx context.Context, opt options, out, diagnostics io.Writer) error {
	if opt.growth > 0 || opt.curves {
		return withDriver(ctx, opt, diagnostics, func(d *driver) error {
			if opt.growth > 0 {
				return d.grow(out)
			}
			return d.measureCurves(out)
		})
	}
	r, err := measure(ctx, opt, diagnostics)
	if err != nil {
		return err
	}
	return errors.Join(r.Print(out), r.Save(opt.json, opt.benchstat), r.Wrong)
}

// measure makes one run.
func measure(ctx context.Context, opt options, diagnostics io.Writer) (r *report.Report, err error) {
	err = withDriver(ctx, opt, diagnostics, func(d *driver) error {
		r = d.report
		if err := d.prepare(); err != nil {
			return err
		}
		if err := d.describe(); err != nil {
			return err
		}
		d.report.Versions = d.versions()
		d.aboutCopies()
		return d.run()
	})
	return r, err
}

// withDriver lets trees and stores lie in a directory that is removed at the end.
func withDriver(ctx context.Context, opt options, diagnostics io.Writer, f func(d *driver) error) (err error) {
	progress := &system.Progress{W: diagnostics, Quiet: opt.quiet}
	d := &driver{
		ctx: ctx, opt: opt, progress: progress, trees: make(map[string]string), begun: make(map[*peers.Remote]bool),
		report: &report.Report{Version: report.Version, Time: time.Now().UTC().Truncate(time.Second)},
	}
	if d.git, err = exec.LookPath("git"); err != nil {
		return fmt.Errorf("git is what cairn is timed against: %w", err)
	}
	cache, err := cacheDir(opt.cache)
	if err != nil {
		return err
	}
	if d.corpus, err = openCorpus(opt, cache, progress); err != nil {
		return err
	}
	place, unmount, err := onImage(opt, cache)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unmount()) }()
	if d.scratch, err = os.MkdirTemp(place, "run-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.close(), d.cleanUp()) }()
	contenders := filepath.Join(d.scratch, contendersDir)
	if err := os.Mkdir(contenders, 0o700); err != nil {
		return err
	}
	system.Spread(d.scratch)
	system.Spread(contenders)
	if opt.repository {
		d.corpus = &trees.Committed{Corpus: d.corpus, Git: d.git, Home: filepath.Join(d.scratch, "home"), Loose: opt.loose}
	}
	d.report.Machine = system.DescribeMachine(d.scratch, d.git)
	if opt.load != nil {
		d.report.Machine.Load = *opt.load
	}
	if m := d.report.Machine; m.Load > float64(m.Processors) {
		d.report.Note("other programs were running (load average %.1f at the beginning): do not trust the times", m.Load)
	}
	return f(d)
}

// onImage returns where trees and stores lie: on the file system that -on names, in an image below cache, or in cache.
func onImage(opt options, cache string) (place string, unmount func() error, err error) {
	if len(opt.images) == 0 {
		return cache, func() error { return nil }, nil
	}
	kind := imageKindOf(opt.images[0])
	if why := kind.missing(opt.images); why != "" {
		return "", nil, fmt.Errorf("-on %s: %s", kind.name, why)
	}
	free, err := system.FreeSpace(cache)
	if err != nil {
		return "", nil, err
	}
	return kind.mount(cache, free/2)
}

// cacheDir returns an absolute path without symlinks: git and cairn print such paths.
func cacheDir(dir string) (string, error) {
	if dir == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("%w (-cache DIR says where else)", err)
		}
		dir = filepath.Join(user, "cairn-bench")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(dir)
}

func openCorpus(opt options, cache string, progress *system.Progress) (trees.Corpus, error) {
	switch opt.corpus {
	case "synthetic":
		s := trees.NewSynthetic(opt.files, opt.dirs)
		s.Shrink = opt.shrink
		return s, nil
	case "ignored":
		return trees.NewDependencies(opt.files, opt.dirs), nil
	case "small":
		dir, err := trees.ModuleTree(cache, progress)
		return trees.Copied{Title: trees.SmallName(), Dir: dir}, err
	case "linux":
		dir, err := trees.DebianTree(cache, progress)
		return trees.Copied{Title: trees.DebianSource, Dir: dir}, err
	}
	info, err := os.Stat(opt.corpus)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is not a directory", opt.corpus)
	}
	return trees.Copied{Title: filepath.Base(opt.corpus), Dir: opt.corpus}, err
}

func (d *driver) cleanUp() error {
	if d.opt.keep {
		d.progress.Say("trees and stores are in %s", d.scratch)
		return nil
	}
	return os.RemoveAll(d.scratch)
}
