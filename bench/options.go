package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn/bench/internal/names"
	"github.com/seed-fb9cbc17/cairn/bench/internal/peers"
)

// options are the parsed flags.
type options struct {
	corpus     string
	files      int
	dirs       int
	shrink     int
	repository bool
	loose      bool // the objects of the repository are not packed
	oneTree    bool
	rounds     int
	heavy      int // rounds of heavy operations, 0 = as the others
	inRow      int // tracks in a row
	only       []string
	contenders []string
	all        bool     // every corpus of the plan
	table      bool     // those of the public table
	quote      bool     // put the tables of results into the documents
	without    []string // corpora of a plan
	update     bool     // keep what the file has of those
	most       most
	load       *float64 // of the machine before the first corpus, nil = it is asked for
	cairn      string
	cache      string
	keep       bool
	noFlush    bool
	json       string
	benchstat  string
	profile    string
	quiet      bool

	agents             bool
	think              time.Duration
	serve              bool
	sessions, projects int
	worked             int // projects that sessions work in, 0 = all
	lasts, pace, rest  time.Duration
	large              bool
	fleet              int // refs of other machines on a remote, 0 = not measured
	copies             bool
	images             []string // file systems, nil = all
	growth             int      // tracks, 0 = not measured

	curves      bool
	checkpoints int
	plot        string // file
}

func parseOptions(args []string) (options, error) {
	var opt options
	var only, contenders, without, images string
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&opt.corpus, "corpus", "synthetic", "")
	flags.IntVar(&opt.files, "files", 10_000, "")
	flags.IntVar(&opt.dirs, "dirs", 0, "")
	flags.IntVar(&opt.shrink, "shrink", 1, "")
	flags.BoolVar(&opt.repository, "repository", false, "")
	flags.BoolVar(&opt.loose, "loose", false, "")
	flags.BoolVar(&opt.oneTree, "one-tree", false, "")
	flags.IntVar(&opt.rounds, "n", 5, "")
	flags.IntVar(&opt.heavy, "heavy", 0, "")
	flags.IntVar(&opt.inRow, "in-row", 300, "")
	flags.StringVar(&only, "only", "", "")
	flags.StringVar(&contenders, "contenders", "all", "")
	flags.BoolVar(&opt.all, "all", false, "")
	flags.BoolVar(&opt.table, "table", false, "")
	flags.BoolVar(&opt.quote, "quote", false, "")
	flags.StringVar(&without, "without", "", "")
	flags.BoolVar(&opt.update, "update", false, "")
	flags.StringVar(&opt.cairn, "cairn", "", "")
	flags.StringVar(&opt.cache, "cache", "", "")
	flags.BoolVar(&opt.keep, "keep", false, "")
	flags.BoolVar(&opt.noFlush, "no-flush", false, "")
	flags.StringVar(&opt.json, "json", "", "")
	flags.StringVar(&opt.benchstat, "benchstat", "", "")
	flags.StringVar(&opt.profile, "profile", "", "")
	flags.IntVar(&opt.fleet, "fleet", 0, "")
	flags.BoolVar(&opt.copies, "copies", false, "")
	flags.StringVar(&images, "on", "", "")
	flags.IntVar(&opt.growth, "growth", 0, "")
	flags.BoolVar(&opt.curves, "curves", false, "")
	flags.IntVar(&opt.checkpoints, "checkpoints", 10_000, "")
	flags.StringVar(&opt.plot, "plot", "", "")
	flags.BoolVar(&opt.quiet, "quiet", false, "")
	flags.BoolVar(&opt.agents, "agents", false, "")
	flags.DurationVar(&opt.think, "think", 300*time.Millisecond, "")
	flags.BoolVar(&opt.serve, "serve", false, "")
	flags.IntVar(&opt.sessions, "sessions", 50, "")
	flags.IntVar(&opt.projects, "projects", 5, "")
	flags.IntVar(&opt.worked, "worked", 0, "")
	flags.DurationVar(&opt.rest, "rest", 0, "")
	flags.BoolVar(&opt.large, "large", false, "")
	flags.DurationVar(&opt.lasts, "lasts", time.Minute, "")
	flags.DurationVar(&opt.pace, "pace", 2*time.Second, "")
	err := flags.Parse(args)
	switch {
	case err != nil:
		return opt, err
	case flags.NArg() > 0:
		return opt, fmt.Errorf("%q is not an option; -help lists them", flags.Arg(0))
	case opt.sessions < 1 || opt.projects < 1 || opt.pace <= 0:
		return opt, errors.New("-sessions, -projects and -pace need at least 1")
	case opt.all && opt.table:
		return opt, errors.New("-all and -table are two runs")
	case (opt.all || opt.table) && (opt.benchstat != "" || opt.profile != "" || opt.growth > 0 || opt.curves || opt.serve || opt.agents):
		return opt, errors.New("-all and -table go without -benchstat, -profile, -growth, -curves, -serve and -agents")
	case opt.loose && !opt.repository:
		return opt, errors.New("-loose is about repositories: it needs -repository")
	case opt.rounds < 1 || opt.files < 1 || opt.inRow < 1 || opt.shrink < 1 || opt.checkpoints < 1 || opt.growth < 0 || opt.fleet < 0 || opt.heavy < 0:
		return opt, errors.New("-n, -files, -in-row, -shrink and -checkpoints need at least 1")
	}
	if opt.images, err = parseImages(images); err != nil {
		return opt, err
	}
	switch one := len(opt.images) > 0 && !opt.copies; {
	case one && len(opt.images) > 1:
		return opt, errors.New("-on takes one file system without -copies")
	case one && (opt.keep || opt.all || opt.table || opt.large || opt.serve || opt.agents || opt.curves || opt.growth > 0 || opt.fleet > 0):
		return opt, errors.New("-on goes with -copies or with a run of its own corpus, without -keep")
	}
	if opt.only, err = parseOnly(only, opt.curves); err != nil {
		return opt, err
	}
	if opt.without, err = opt.form().parseWithout(without); err != nil {
		return opt, err
	}
	if (opt.all || opt.table) && contenders == "all" {
		opt.contenders = peers.KindNames() // each corpus takes those that fit
	} else if opt.contenders, err = peers.ParseContenders(contenders, opt.repository || opt.table, opt.oneTree); err != nil {
		return opt, err
	}
	flags.Visit(func(f *flag.Flag) {
		switch f.Name {
		case "files":
			opt.most.files = opt.files
		case "n":
			opt.most.rounds = opt.rounds
		}
	})
	return opt, nil
}

// takenBack is how many files the large turn has made.
func (o *options) takenBack() int {
	if o.most.files > 0 {
		return min(o.most.files, names.TakenBack)
	}
	return names.TakenBack
}

func parseOnly(list string, curves bool) ([]string, error) {
	if list == "" {
		return nil, nil
	}
	asked := strings.Split(list, ",")
	var known []string
	for _, p := range phases {
		known = append(known, p.op)
	}
	if curves {
		known = curveParts
	}
	for _, op := range asked {
		if !slices.Contains(known, op) {
			return nil, fmt.Errorf("no operation is called %q; there are %s", op, strings.Join(known, ", "))
		}
	}
	return asked, nil
}
