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
)

const usageText = `usage: go run ./bench [options]

Times cairn against the git commands that it replaces and against what the machine
can do at best, in one run, and prints one table.

  -corpus NAME      synthetic  a made-up source tree, the same on every machine (default)
                    linux      the source of Linux 6.1, fetched from Debian once (140 MB)
                    DIR        any directory; it is copied and only read
  -files N          files of the synthetic tree, default 10000
  -dirs N           directories of the synthetic tree, default files/15
  -growth N         instead of all this, let a store grow by N tracks of one edited
                    file each, with a cleaning after every 360: 10000 is a week
  -curves           instead of all this, measure how costs grow: with the number of
                    files up to -files, of changed files, and of checkpoints kept;
                    all of it takes -files 500000, and 6 GB of room; parts by -only,
                    from files,changed,kept
  -checkpoints N    most checkpoints with -curves, default 10000
  -plot FILE        instead of measuring, draw the curves of a -json file as SVG files
                    beside it, and print how each grows
  -n N              rounds, default 5; the table shows medians
  -only LIST        operations to time, separated by commas; -only help lists them
  -contenders LIST  default spec,cairn,cairn-library; opencode is there, too
  -cairn FILE       a cairn program to time instead of the one built from this source
  -cache DIR        where trees and stores lie, default the user's cache directory;
                    it needs room for the tree and a store, per contender
  -keep             do not remove trees and stores at the end
  -no-flush         do not flush the disks before each measurement: where other
                    programs write a lot, flushing takes longer than measuring
  -json FILE        write all samples; a bare name goes to bench/results
  -benchstat FILE   the same as benchstat reads it
  -profile DIR      write a processor profile of the library for each operation
  -quiet            no progress on stderr

  -serve            instead put a server under load: sessions that work at once, a
                    step each -pace, each changing one file
  -sessions N       default 50
  -projects N       that they share, of -files files each; default 5
  -lasts DURATION   default 1m
  -pace DURATION    from step to step of a session, on average; default 2s, which is
                    several times as fast as agents are

The contenders
  spec           git add . && git write-tree and so on, as the specification of the
                 snapshots has it, with its own git directory and no configuration
  opencode       what OpenCode 1.18 runs, in a repository without commits
  cairn          the program, one process for each operation
  cairn-library  the Go package, in a process that stays

What is timed
  Every contender has a tree of its own, with equal contents, in the page cache. They
  take turns, in an order that changes; before each measurement the disks are flushed.
  The first track begins without a store and borrows nothing: the tree is no
  repository. Restore finds 100 edited files that have not been tracked, revert
  gets the list that a patch gave. All results are checked.

The floors
  walk   list every directory and take the status of every entry, on all processors
  store  read every file, SHA-1 and zlib level 1 at the measured speed, on all processors
  spawn  start a program that does nothing

The exit status does not depend on the times.
`

func main() {
	if len(os.Args) == 2 && os.Args[1] == workerWord {
		exit(work(os.Stdin, os.Stdout))
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
	case opt.serve:
		run = serveBench
	case opt.plot != "":
		run = plotBench
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

// bench makes one run. Trees and stores lie in a directory that is removed at the end.
func bench(ctx context.Context, opt options, out, diagnostics io.Writer) (err error) {
	progress := &progress{diagnostics, opt.quiet}
	d := &driver{
		ctx: ctx, opt: opt, progress: progress, trees: make(map[string]string),
		report: &report{Version: reportVersion, Time: time.Now().UTC().Truncate(time.Second)},
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
	if d.scratch, err = os.MkdirTemp(cache, "run-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.close(), d.cleanUp()) }()
	d.report.Machine = describeMachine(d.scratch, d.git)
	if m := d.report.Machine; m.Load > float64(m.Processors) {
		d.report.note("other programs were running (load average %.1f at the beginning): do not trust the times", m.Load)
	}
	if opt.growth > 0 {
		return d.grow(out)
	}
	if opt.curves {
		return d.measureCurves(out)
	}
	if err := d.prepare(); err != nil {
		return err
	}
	if err := d.describe(); err != nil {
		return err
	}
	if err := d.run(); err != nil {
		return err
	}
	return errors.Join(d.report.print(out), d.report.save(opt))
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

func openCorpus(opt options, cache string, progress *progress) (corpus, error) {
	switch opt.corpus {
	case "synthetic":
		return newSynthetic(opt.files, opt.dirs), nil
	case "linux":
		dir, err := debianTree(cache, progress)
		return copied{debianSource, dir}, err
	}
	info, err := os.Stat(opt.corpus)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is not a directory", opt.corpus)
	}
	return copied{filepath.Base(opt.corpus), opt.corpus}, err
}

func (d *driver) cleanUp() error {
	if d.opt.keep {
		d.progress.say("trees and stores are in %s", d.scratch)
		return nil
	}
	return os.RemoveAll(d.scratch)
}
