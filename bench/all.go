package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn/bench/internal/names"
	"github.com/seed-fb9cbc17/cairn/bench/internal/peers"
	"github.com/seed-fb9cbc17/cairn/bench/internal/report"
	"github.com/seed-fb9cbc17/cairn/bench/internal/system"
	"github.com/seed-fb9cbc17/cairn/bench/internal/trees"
)

// planned is one corpus of -all, with as many rounds as a person waits for.
type planned struct {
	name, title   string
	corpus        string
	files, shrink int
	repository    bool
	oneTree       bool
	rounds, heavy int
	loose         bool
	slow          []string // contenders that would take longer than all the rest
	contenders    []string // those that take part, nil = all
	only          []string // operations, nil = all
}

// form is what distinguishes -all from -table: the corpora, and how the results are written.
type form struct {
	word     string // the option
	file     string // of the results, by default
	corpora  []planned
	markdown func(s *suite, w io.Writer) error
}

func (o *options) form() *form {
	if o.table {
		return &tableForm
	}
	return &allForm
}

var allForm = form{"-all", "all.json", plan, (*suite).markdown}

// plan has the corpora of -all in the order of the results. Sizes of the largest tree are cut,
// and it is one for all, so that trees and stores stay below 15 GB.
var plan = []planned{
	{name: "small", title: "small", corpus: "small", repository: true, rounds: 5, heavy: 3},
	{name: "10k", title: "10,000", corpus: "synthetic", files: 10_000, rounds: 5, heavy: 3},
	{name: "ignored", title: "ignored", corpus: "ignored", files: 10_000, rounds: 5, heavy: 3},
	{name: "linux", title: "Linux", corpus: "linux", repository: true, rounds: 4, heavy: 3},
	{name: "100k", title: "100,000", corpus: "synthetic", files: 100_000, rounds: 4, heavy: 3},
	{name: "500k", title: "500,000", corpus: "synthetic", files: 500_000, shrink: 4, oneTree: true, rounds: 2, heavy: 2, slow: []string{names.Restic}},
}

func (f *form) names() (names []string) {
	for _, p := range f.corpora {
		names = append(names, p.name)
	}
	return names
}

// parseWithout takes names of the plan separated by commas.
func (f *form) parseWithout(list string) ([]string, error) {
	if list == "" {
		return nil, nil
	}
	names := strings.Split(list, ",")
	for _, name := range names {
		if !slices.Contains(f.names(), name) {
			return nil, fmt.Errorf("%s has no corpus called %q; it has %s", f.word, name, strings.Join(f.names(), ", "))
		}
	}
	return names, nil
}

// options are those of one run. What the user has set is the upper limit.
func (p *planned) options(opt options) options {
	opt.corpus, opt.repository, opt.oneTree = p.corpus, p.repository, p.oneTree
	opt.files, opt.dirs, opt.shrink = p.files, 0, max(1, p.shrink)
	opt.rounds, opt.heavy, opt.loose = p.rounds, p.heavy, p.loose
	if opt.only == nil {
		opt.only = p.only
	}
	if opt.most.files > 0 {
		opt.files = min(opt.files, opt.most.files)
	}
	if opt.most.rounds > 0 {
		opt.rounds, opt.heavy = min(opt.rounds, opt.most.rounds), min(opt.heavy, opt.most.rounds)
	}
	if p.contenders == nil {
		opt.contenders = slices.DeleteFunc(slices.Clone(opt.contenders), func(name string) bool { return slices.Contains(ofTable, name) })
	}
	opt.contenders = slices.DeleteFunc(slices.Clone(opt.contenders), func(name string) bool {
		return slices.Contains(p.slow, name) || p.contenders != nil && !slices.Contains(p.contenders, name) || !peers.KindOf(name).Fits(opt.repository, opt.oneTree)
	})
	return opt
}

// ofTable are contenders that -all goes without.
var ofTable = []string{names.Jujutsu, names.Copy, names.Served}

// most are limits for all corpora, 0 = none.
type most struct{ files, rounds int }

// suite is what -all found. Its JSON form is described in results/README.md.
type suite struct {
	form    *form
	Version int       `json:"version"`
	Time    time.Time `json:"time"`
	Runs    []*run    `json:"runs"`
	Failed  []string  `json:"failed,omitempty"` // corpora that could not be measured, and why
}

type run struct {
	Plan    string  `json:"name"`
	Title   string  `json:"title"`
	Minutes float64 `json:"minutes"` // that it took, preparations included
	report.Report
}

// benchAll measures one corpus after the other. The results so far are saved after
// each. A corpus that fails does not stop the others.
func benchAll(ctx context.Context, opt options, out, diagnostics io.Writer) error {
	progress := &system.Progress{W: diagnostics, Quiet: opt.quiet}
	f := opt.form()
	if opt.json == "" {
		opt.json = f.file
	}
	if err := roomForAll(opt); err != nil {
		return err
	}
	s := &suite{form: f, Version: report.Version, Time: time.Now().UTC().Truncate(time.Second)}
	if opt.update {
		if err := s.keep(opt); err != nil {
			return err
		}
		if err := s.save(opt); err != nil { // all there is, where every corpus is left out
			return err
		}
	}
	var failed []error
	for i := range f.corpora {
		p := &f.corpora[i]
		if slices.Contains(opt.without, p.name) {
			continue
		}
		progress.Say("== %s", p.name)
		begin := time.Now()
		r, err := measure(ctx, p.options(opt), diagnostics)
		switch {
		case ctx.Err() != nil:
			return errors.Join(ctx.Err(), err)
		case err != nil:
			err = fmt.Errorf("%s: %w", p.name, err)
			failed, s.Failed = append(failed, err), append(s.Failed, err.Error())
		default:
			r.LeftOut(p.slow)
			s.add(&run{p.name, p.title, time.Since(begin).Minutes(), *r})
			opt.load = &r.Machine.Load // later the load is this run's
			if r.Wrong != nil {
				failed = append(failed, fmt.Errorf("%s: %w", p.name, r.Wrong))
			}
		}
		if err := s.save(opt); err != nil {
			return err
		}
	}
	return errors.Join(f.markdown(s, out), errors.Join(failed...))
}

// add keeps the runs in the order of the plan.
func (s *suite) add(r *run) {
	s.Runs = append(s.Runs, r)
	slices.SortStableFunc(s.Runs, func(a, b *run) int {
		return slices.Index(s.form.names(), a.Plan) - slices.Index(s.form.names(), b.Plan)
	})
}

// keep takes over what an earlier run has found of the corpora that are left out now.
func (s *suite) keep(opt options) error {
	before, err := readSuite(opt.json)
	if err != nil {
		return fmt.Errorf("-update goes on from an earlier run: %w", err)
	}
	for _, r := range before.Runs {
		if slices.Contains(opt.without, r.Plan) {
			if len(opt.without) < len(s.form.corpora) { // else the tables are only written again
				r.Note("measured %s, before the corpora without this note", r.Report.Time.Format(time.DateTime))
			}
			s.add(r)
		}
	}
	return nil
}

// readSuite reads the JSON file of a run.
func readSuite(file string) (*suite, error) {
	data, err := os.ReadFile(report.ResultFile(file))
	if err != nil {
		return nil, err
	}
	s := &suite{}
	if err := json.Unmarshal(data, s); err != nil {
		return nil, fmt.Errorf("%s: %w", report.ResultFile(file), err)
	}
	return s, nil
}

// save writes the JSON file, and the tables beside it.
func (s *suite) save(opt options) error {
	text := strings.TrimSuffix(opt.json, ".json") + ".md"
	return errors.Join(
		report.SaveTo(opt.json, func(w io.Writer) error { return report.WriteJSON(w, s) }),
		report.SaveTo(text, func(w io.Writer) error { return s.form.markdown(s, w) }))
}

// markdown writes first what is promised, then the tables of every corpus.
func (s *suite) markdown(w io.Writer) error {
	var text strings.Builder
	fmt.Fprintf(&text, "# Benchmark, %s\n\n", s.Time.Format("2006-01-02"))
	if len(s.Runs) > 0 {
		fmt.Fprintf(&text, "`go -C bench run . -all` on %s\n\n", s.Runs[0].Machine)
		text.WriteString("## Goals\n\n")
		if err := s.goalTable().Write(&text); err != nil {
			return err
		}
	}
	for _, r := range s.Runs {
		fmt.Fprintf(&text, "\n## %s\n\n", r.Report.Corpus.Name)
		if err := r.PrintCorpus(&text); err != nil {
			return err
		}
	}
	for _, failed := range s.Failed {
		fmt.Fprintf(&text, "\nnot measured: %s\n", failed)
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// goalTable has a column for each corpus: the figure, and whether it meets the goal.
func (s *suite) goalTable() report.Table {
	head := []string{"goal"}
	for _, r := range s.Runs {
		head = append(head, r.Title)
	}
	t := report.Table{append(head, "limit")}
	for i := range report.Goals {
		g := &report.Goals[i]
		row, some := []string{g.Title}, false
		for _, r := range s.Runs {
			cell := "-"
			if met, known := g.Met(&r.Report); known {
				value, _ := g.Value(&r.Report)
				cell, some = report.PromisedText(value, g.Unit)+map[bool]string{true: " yes", false: " **no**"}[met], true
			}
			row = append(row, cell)
		}
		if some {
			t = append(t, append(row, limitText(g, s.Runs)))
		}
	}
	return t
}

// limitText is the limit, or the limits where they depend on the corpus.
func limitText(g *report.Goal, runs []*run) string {
	var texts []string
	for _, r := range runs {
		if limit, ok := g.Limit(&r.Report); ok {
			if text := report.PromisedText(limit, g.Unit); !slices.Contains(texts, text) {
				texts = append(texts, text)
			}
		}
	}
	return g.Relation() + " " + strings.Join(texts, ", ")
}

// The sizes of corpora that are not there yet.
var fetched = map[string]trees.TreeSize{
	"small": {Files: 5_000, Bytes: 80e6, Allocated: 90e6},
	"linux": {Files: 80_000, Bytes: 1_300e6, Allocated: 1_600e6},
}

// roomForAll fails before the first corpus where the disk is too small for one of
// them, and for the sources to be fetched.
func roomForAll(opt options) error {
	cache, err := cacheDir(opt.cache)
	if err != nil {
		return err
	}
	free, err := system.FreeSpace(cache)
	if err != nil {
		return err
	}
	kept := int64(0)
	f := opt.form()
	for i := range f.corpora {
		p := &f.corpora[i]
		if slices.Contains(opt.without, p.name) {
			continue
		}
		d := &driver{opt: p.options(opt), report: &report.Report{}, git: "git"}
		d.leaveOut()
		size, known := fetched[p.corpus]
		if known {
			kept += size.Allocated
		} else if c, err := openCorpus(d.opt, cache, nil); err != nil {
			return err
		} else if size, err = c.Size(); err != nil {
			return err
		}
		if need := kept + d.need(size); need > free {
			return fmt.Errorf("the corpus %s needs about %.1f GB, %.1f GB are free in %s (-cache DIR says where else, -without %s leaves it out)",
				p.name, float64(need)/1e9, float64(free)/1e9, cache, p.name)
		}
	}
	return nil
}
