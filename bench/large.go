package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
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

// -large measures the program alone, on trees that are large in one way, and on trees of the same
// shape a tenth as large.

// largeReport is the outcome. results/README.md describes its JSON form.
type largeReport struct {
	Time    time.Time      `json:"time"`
	Machine system.Machine `json:"machine"`
	Rows    []largeRow     `json:"rows"`
	Minutes float64        `json:"minutes"`
}

// largeRow is one operation on one tree.
type largeRow struct {
	Shape      string  `json:"shape"`
	Operation  string  `json:"operation"`
	Units      int64   `json:"units"` // files, directories or bytes, whatever the shape is large in
	Seconds    float64 `json:"seconds"`
	CPUSeconds float64 `json:"cpuSeconds"`
	PeakBytes  int64   `json:"peakBytes"`
}

const (
	largeTimes  = 3     // how often what changes nothing is timed
	largeRatio  = 10    // of the larger tree to the smaller one
	goalPeak    = 250e6 // bytes
	goalPerUnit = 1.15  // time for a unit, in the larger tree by that in the smaller one
)

// The operations, in their order.
const (
	largeFirst     = "first track"
	largeUnchanged = "track, nothing changed"
	largeChanged   = "track, 1 file changed"
	largeDiff      = "diff of that"
	largeBack      = "restore of that"
)

func (o *options) largeShapes() []trees.Shape {
	shapes := trees.Shapes()
	for i := range shapes {
		s := &shapes[i]
		if o.most.files > 0 {
			s.Units = min(s.Units, int64(o.most.files)*s.Smallest)
		}
	}
	return shapes
}

// benchLarge measures one shape after the other, and saves what it has after each.
func benchLarge(ctx context.Context, opt options, out, diagnostics io.Writer) (err error) {
	progress := &system.Progress{W: diagnostics, Quiet: opt.quiet}
	if opt.json == "" {
		opt.json = "large.json"
	}
	cache, err := cacheDir(opt.cache)
	if err != nil {
		return err
	}
	scratch, err := os.MkdirTemp(cache, "run-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, removeDeep(scratch)) }()
	program := opt.cairn
	if program == "" {
		progress.Say("building cairn")
		program = filepath.Join(scratch, "cairn"+exeSuffix)
		if err := buildCairn(program); err != nil {
			return err
		}
	}
	git, _ := exec.LookPath("git")
	begun := time.Now()
	r := &largeReport{Time: begun.UTC().Truncate(time.Second), Machine: system.DescribeMachine(scratch, git)}
	for _, shape := range opt.largeShapes() {
		for _, units := range []int64{max(1, shape.Units/largeRatio), shape.Units} {
			progress.Say("%s: %d", shape.Name, units)
			if err := r.measure(ctx, shape, units, program, filepath.Join(scratch, "large")); err != nil {
				return fmt.Errorf("%s, %d: %w", shape.Name, units, err)
			}
		}
		r.Minutes = time.Since(begun).Minutes()
		if err := r.save(opt.json); err != nil {
			return err
		}
	}
	return r.markdown(out)
}

// removeDeep removes a tree that may be too deep for paths and for one open directory a level.
func removeDeep(dir string) error {
	if runtime.GOOS != "windows" {
		return exec.Command("rm", "-rf", "--", dir).Run()
	}
	return os.RemoveAll(dir)
}

// measure makes a tree below dir, takes it through all operations, and removes it.
func (r *largeReport) measure(ctx context.Context, shape trees.Shape, units int64, program, dir string) (err error) {
	defer func() { err = errors.Join(err, removeDeep(dir)) }()
	s := peers.Setting{
		Kind: names.CLI, Root: filepath.Join(dir, "tree"), Store: filepath.Join(dir, "store", "data"), Home: filepath.Join(dir, "home"),
		Cairn: program, CairnOptions: shape.Options, Alone: true,
	}
	if err := errors.Join(os.MkdirAll(s.Root, 0o755), shape.Fill(s.Root, units)); err != nil {
		return err
	}
	worker, err := peers.StartWorker(s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, worker.Close()) }()
	return r.operations(ctx, shape, units, worker)
}

func (r *largeReport) operations(ctx context.Context, shape trees.Shape, units int64, s *peers.Remote) error {
	timed := func(op string, req peers.Request) (peers.Response, error) {
		system.FlushDisks()
		resp, err := s.Do(req)
		r.Rows = append(r.Rows, largeRow{shape.Name, op, units, resp.Seconds, resp.Used.CPUSeconds / float64(max(1, req.Times)), resp.Used.PeakBytes})
		return resp, errors.Join(err, ctx.Err())
	}
	first, err := timed(largeFirst, peers.Request{Op: peers.OpTrack})
	if err != nil {
		return err
	}
	same, err := timed(largeUnchanged, peers.Request{Op: peers.OpTrack, Times: largeTimes})
	if err != nil {
		return err
	}
	if same.Tree != first.Tree {
		return errors.New("an unchanged tree has another id")
	}
	if err := shape.Edit(s.Root); err != nil {
		return err
	}
	changed, err := timed(largeChanged, peers.Request{Op: peers.OpTrack})
	if err != nil {
		return err
	}
	diff, err := timed(largeDiff, peers.Request{Op: peers.OpDiffFull, Tree: first.Tree, To: changed.Tree, Times: largeTimes})
	if err != nil {
		return err
	}
	if diff.Count != 1 {
		return fmt.Errorf("a diff lists %d files, not 1", diff.Count)
	}
	if _, err := timed(largeBack, peers.Request{Op: peers.OpRestore, Tree: first.Tree}); err != nil {
		return err
	}
	again, err := s.Track()
	if err == nil && again != first.Tree {
		err = errors.New("the restored tree has another id")
	}
	return err
}

func (r *largeReport) save(file string) error {
	return errors.Join(
		report.SaveTo(file, func(w io.Writer) error { return report.WriteJSON(w, r) }),
		report.SaveTo(strings.TrimSuffix(file, ".json")+".md", r.markdown))
}

// markdown has a row for each operation on each larger tree.
func (r *largeReport) markdown(w io.Writer) error {
	t := report.Table{{"tree", "operation", "s", "a tenth, s", "time for a unit, by that of a tenth", "peak MB", "met"}}
	for i := range r.Rows {
		full := &r.Rows[i]
		tenth := r.tenthOf(full)
		if tenth == nil {
			continue
		}
		perUnit := full.Seconds / float64(full.Units) / (tenth.Seconds / float64(tenth.Units))
		t = append(t, []string{
			full.Shape, full.Operation, fmt.Sprintf("%.2f", full.Seconds), fmt.Sprintf("%.2f", tenth.Seconds), fmt.Sprintf("%.2f", perUnit),
			fmt.Sprintf("%.0f", megabyte(full.PeakBytes)), largeMet(full.PeakBytes, perUnit),
		})
	}
	_, err := fmt.Fprintf(w, "# Large trees, %s\n\n`go -C bench run . -large` on %s, %.1f minutes, load %.1f when it began. A time is of one call of the program,\nwhere nothing changes the median of %d. Goals: a peak below %.0f MB, and a unit (file, directory or byte) at most %.2f times as dear as in a tenth.\n\n",
		r.Time.Format("2006-01-02"), r.Machine, r.Minutes, r.Machine.Load, largeTimes, goalPeak/1e6, goalPerUnit)
	return errors.Join(err, t.Write(w))
}

func largeMet(peak int64, perUnit float64) string {
	var missed []string
	if peak >= goalPeak {
		missed = append(missed, "memory")
	}
	if perUnit > goalPerUnit {
		missed = append(missed, "more than linear")
	}
	if missed == nil {
		return "yes"
	}
	return "no: " + strings.Join(missed, ", ")
}

// tenthOf is the same operation on the smaller tree, nil for a row that is of a smaller tree itself.
func (r *largeReport) tenthOf(full *largeRow) *largeRow {
	i := slices.IndexFunc(r.Rows, func(x largeRow) bool {
		return x.Shape == full.Shape && x.Operation == full.Operation && x.Units < full.Units
	})
	if i < 0 {
		return nil
	}
	return &r.Rows[i]
}
