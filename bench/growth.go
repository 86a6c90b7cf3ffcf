package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/seed-fb9cbc17/cairn/bench/internal/names"
	"github.com/seed-fb9cbc17/cairn/bench/internal/peers"
	"github.com/seed-fb9cbc17/cairn/bench/internal/report"
	"github.com/seed-fb9cbc17/cairn/bench/internal/system"
	"github.com/seed-fb9cbc17/cairn/bench/internal/trees"
)

// growthHour is how many tracks an hour of work has: one every ten seconds. Then
// stores are cleaned, as cairn does in the background and the specification with
// "git gc --prune=7.days".
const growthHour = 360

// growth is what many tracks of one edited file each do to a store.
type growth struct {
	Version int            `json:"version"`
	Time    time.Time      `json:"time"`
	Machine system.Machine `json:"machine"`
	Corpus  string         `json:"corpus"`
	Tree    trees.TreeSize `json:"tree"`
	Tracks  int            `json:"tracks"`
	Hour    int            `json:"tracksBetweenCleanings"`
	Who     []growthStore  `json:"who"`
	Notes   []string       `json:"notes,omitempty"`
}

// growthStore is one contender. Times are seconds of wall time, sizes bytes.
type growthStore struct {
	Name       string         `json:"name"`
	First      trees.TreeSize `json:"first"`     // the store after the first track and a cleaning
	BeforeLast trees.TreeSize `json:"beforeEnd"` // after the last track
	End        trees.TreeSize `json:"end"`       // after the last cleaning
	StartP50   float64        `json:"startP50"`  // of the first tenth of the tracks
	StartP99   float64        `json:"startP99"`
	EndP50     float64        `json:"endP50"` // of the last tenth
	EndP99     float64        `json:"endP99"`
	Cleanings  int            `json:"cleanings"`
	CleanTotal float64        `json:"cleanSeconds"` // all together
	CleanMax   float64        `json:"cleanMaxSeconds"`
	PeakRatio  float64        `json:"peakRatio"` // most room during a cleaning, temporary files included, by the larger of the sizes before and after
}

// grow measures one contender after the other: nothing else is to disturb them.
func (d *driver) grow(out io.Writer) error {
	if err := d.build(); err != nil {
		return err
	}
	g := &growth{Version: report.Version, Time: d.report.Time, Machine: d.report.Machine, Corpus: d.corpus.Name(), Tracks: d.opt.growth, Hour: growthHour, Notes: d.report.Notes}
	for _, kind := range []string{names.Spec, names.CLI} {
		if !slices.Contains(d.opt.contenders, kind) {
			continue
		}
		w, err := d.growOne(kind, g)
		if err != nil {
			return fmt.Errorf("%s: %w", kind, err)
		}
		g.Who = append(g.Who, *w)
	}
	if d.opt.json != "" {
		if err := g.save(d.opt.json); err != nil {
			return err
		}
	}
	return g.print(out)
}

func (d *driver) growOne(kind string, g *growth) (*growthStore, error) {
	dir := filepath.Join(d.scratch, "growth", kind)
	s := peers.Setting{Kind: kind, Root: filepath.Join(dir, "tree"), Store: filepath.Join(dir, "data"), Home: filepath.Join(d.scratch, "home"), Git: d.git, Cairn: d.cairn, Alone: true}
	if err := errors.Join(os.MkdirAll(s.Root, 0o755), os.MkdirAll(s.Home, 0o755), d.corpus.Fill(s.Root)); err != nil {
		return nil, err
	}
	var err error
	if g.Tree, err = trees.SizeOf(s.Root); err != nil {
		return nil, err
	}
	d.subjects = []*peers.Remote{{Setting: s}}
	if err := d.chooseEdits(); err != nil {
		return nil, err
	}
	d.subjects = nil
	c, err := peers.NewContender(s)
	if err != nil {
		return nil, err
	}
	clean := c.(peers.Cleaner).Clean // both kinds are cleaners
	w := &growthStore{Name: kind}
	d.progress.Say("%s: first track", kind)
	if _, err := c.Track(); err != nil {
		return nil, err
	}
	if err := w.clean(s.Store, clean); err != nil {
		return nil, err
	}
	if w.First, err = trees.SizeOf(s.Store); err != nil {
		return nil, err
	}
	var times []float64
	for n := range d.opt.growth {
		i := n % len(d.edits.Paths)
		if err := errors.Join(d.ctx.Err(), d.edits.Apply(s.Root, i, i+1, "growth", n)); err != nil {
			return nil, err
		}
		begin := time.Now()
		if _, err := c.Track(); err != nil {
			return nil, err
		}
		times = append(times, time.Since(begin).Seconds())
		if (n+1)%growthHour == 0 && n+1 < d.opt.growth {
			d.progress.Say("%s: %d tracks, cleaning", kind, n+1)
			if err := w.clean(s.Store, clean); err != nil {
				return nil, err
			}
		}
	}
	if w.BeforeLast, err = trees.SizeOf(s.Store); err != nil {
		return nil, err
	}
	if err := w.clean(s.Store, clean); err != nil {
		return nil, err
	}
	tenth := max(1, len(times)/10)
	w.StartP50, w.StartP99 = percentiles(times[:tenth])
	w.EndP50, w.EndP99 = percentiles(times[len(times)-tenth:])
	w.End, err = trees.SizeOf(s.Store)
	return w, err
}

// clean cleans, and watches how much room that takes.
func (w *growthStore) clean(store string, clean func() error) error {
	before, err := trees.SizeOf(store)
	if err != nil {
		return err
	}
	done, peak := make(chan struct{}), int64(0)
	var watching sync.WaitGroup
	watching.Go(func() {
		for {
			if size, err := trees.SizeOf(store); err == nil { // files come and go: not every look succeeds
				peak = max(peak, size.Bytes)
			}
			select {
			case <-done:
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	})
	begin := time.Now()
	err = clean()
	took := time.Since(begin).Seconds()
	close(done)
	watching.Wait()
	if err != nil {
		return err
	}
	after, err := trees.SizeOf(store)
	if err != nil {
		return err
	}
	w.Cleanings++
	w.CleanTotal += took
	w.CleanMax = max(w.CleanMax, took)
	w.PeakRatio = max(w.PeakRatio, float64(peak)/float64(max(1, before.Bytes, after.Bytes)))
	return nil
}

// percentiles returns the 50th and the 99th.
func percentiles(times []float64) (p50, p99 float64) {
	sorted := slices.Sorted(slices.Values(times))
	return sorted[len(sorted)/2], sorted[len(sorted)*99/100]
}

func (g *growth) print(out io.Writer) error {
	fmt.Fprintf(out, "%d tracks of one edited file each, cleaned every %d; %s: %d files, %.1f MB\n\n", g.Tracks, g.Hour, g.Corpus, g.Tree.Files, float64(g.Tree.Bytes)/1e6)
	t := tabwriter.NewWriter(out, 0, 8, 2, ' ', tabwriter.AlignRight)
	row := func(label string, value func(*growthStore) string) {
		fmt.Fprintf(t, "%s\t", label)
		for i := range g.Who {
			fmt.Fprintf(t, "%s\t", value(&g.Who[i]))
		}
		fmt.Fprintln(t)
	}
	row("", func(w *growthStore) string { return w.Name })
	row("store after the first track, MB", func(w *growthStore) string { return megabytes(w.First.Bytes) })
	row("store at the end, MB", func(w *growthStore) string { return megabytes(w.End.Bytes) })
	row("grown by, MB", func(w *growthStore) string { return megabytes(w.End.Bytes - w.First.Bytes) })
	row("files at the end", func(w *growthStore) string { return fmt.Sprint(w.End.Files) })
	row("files before the last cleaning", func(w *growthStore) string { return fmt.Sprint(w.BeforeLast.Files) })
	row("track at the start, p50 ms", func(w *growthStore) string { return milliseconds(w.StartP50) })
	row("track at the start, p99 ms", func(w *growthStore) string { return milliseconds(w.StartP99) })
	row("track at the end, p50 ms", func(w *growthStore) string { return milliseconds(w.EndP50) })
	row("track at the end, p99 ms", func(w *growthStore) string { return milliseconds(w.EndP99) })
	row("cleanings", func(w *growthStore) string { return fmt.Sprint(w.Cleanings) })
	row("cleaning, all together, s", func(w *growthStore) string { return fmt.Sprintf("%.1f", w.CleanTotal) })
	row("cleaning, longest, s", func(w *growthStore) string { return fmt.Sprintf("%.1f", w.CleanMax) })
	row("room while cleaning, by the size", func(w *growthStore) string { return fmt.Sprintf("%.2f", w.PeakRatio) })
	return t.Flush()
}

func megabytes(n int64) string      { return fmt.Sprintf("%.1f", float64(n)/1e6) }
func milliseconds(s float64) string { return fmt.Sprintf("%.1f", 1000*s) }

func (g *growth) save(file string) error {
	data, err := json.MarshalIndent(g, "", "  ")
	if err != nil {
		return err
	}
	if filepath.Base(file) == file {
		file = filepath.Join("bench", "results", file)
	}
	return os.WriteFile(file, append(data, '\n'), 0o644)
}
