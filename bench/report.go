package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/stat"
)

// report is what a run found. results/README.md describes its JSON form.
type report struct {
	Version    int         `json:"version"`
	Time       time.Time   `json:"time"`
	Machine    machine     `json:"machine"`
	Corpus     corpusInfo  `json:"corpus"`
	Rounds     int         `json:"rounds"`
	Edited     int         `json:"edited"` // files that the operations on "100" files change
	Throughput throughput  `json:"throughput"`
	Samples    []sample    `json:"samples"`
	Stores     []storeInfo `json:"stores"`
	Notes      []string    `json:"notes,omitempty"`

	HeavyRounds int          `json:"heavyRounds,omitempty"` // of first tracks and all that rewrites files
	EditedLarge int          `json:"editedLarge,omitempty"` // files that the operations on "1,000" files change
	Memory      []memoryInfo `json:"memory,omitempty"`

	wrong error // the first disagreement about a result
}

// reportVersion changes when a field changes its meaning.
const reportVersion = 1

// sample is one measurement.
type sample struct {
	Operation  string  `json:"operation"`
	Who        string  `json:"who"` // a contender, or "floor"
	Round      int     `json:"round"`
	Seconds    float64 `json:"seconds"`
	CPUSeconds float64 `json:"cpuSeconds,omitempty"`
	PeakBytes  int64   `json:"peakBytes,omitempty"`

	// InRow are the times of one after the other where one alone says too little. Then
	// Seconds is their median, CPUSeconds the mean.
	InRow []float64 `json:"inRow,omitempty"`
}

type corpusInfo struct {
	Name          string `json:"name"`
	Captured      int    `json:"captured"`                // files that are not ignored
	CapturedBytes int64  `json:"capturedBytes,omitempty"` // of regular files that are not ignored
	CapturedDirs  int    `json:"capturedDirs,omitempty"`  // directories with files that are not ignored, and those above
	Repository    bool   `json:"repository,omitempty"`    // the trees are clean git repositories
	OneTree       bool   `json:"oneTree,omitempty"`       // all contenders work in one tree
	treeSize
}

// memoryInfo is what a contender's process holds between operations.
type memoryInfo struct {
	Who           string `json:"who"`
	When          string `json:"when"` // "started" or "watching"
	HeapBytes     int64  `json:"heapBytes"`
	ResidentBytes int64  `json:"residentBytes,omitempty"`
}

type storeInfo struct {
	Who  string `json:"who"`
	When string `json:"when"`
	treeSize
}

// note adds a remark, once.
func (r *report) note(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(r.Notes, text) {
		r.Notes = append(r.Notes, text)
	}
}

// disagree notes that a result is wrong. The run goes on, since what it measures may
// show why, and ends with an error.
func (r *report) disagree(format string, args ...any) {
	r.note(format, args...)
	if r.wrong == nil {
		r.wrong = fmt.Errorf(format, args...)
	}
}

// values are all measurements of an operation by one contender.
func (r *report) values(op, who string, of func(*sample) float64) []float64 {
	var list []float64
	for i := range r.Samples {
		if s := &r.Samples[i]; s.Operation == op && s.Who == who {
			list = append(list, of(s))
		}
	}
	return list
}

// times are the wall times of an operation by one contender, those in a row included.
func (r *report) times(op, who string) (list []float64) {
	for i := range r.Samples {
		if s := &r.Samples[i]; s.Operation == op && s.Who == who && len(s.InRow) > 0 {
			list = append(list, s.InRow...)
		} else if s.Operation == op && s.Who == who {
			list = append(list, s.Seconds)
		}
	}
	return list
}

// perFile is the memory for each captured file that watching takes: of the heap, and
// of all of the process.
func (r *report) perFile() (heap, resident float64, ok bool) {
	var started, watching *memoryInfo
	for i := range r.Memory {
		switch m := &r.Memory[i]; {
		case m.Who == nameWatching && m.When == memoryStarted:
			started = m
		case m.Who == nameWatching:
			watching = m
		}
	}
	if started == nil || watching == nil || r.Corpus.Captured == 0 {
		return 0, 0, false
	}
	files := float64(r.Corpus.Captured)
	return float64(watching.HeapBytes-started.HeapBytes) / files, float64(watching.ResidentBytes-started.ResidentBytes) / files, true
}

// seconds is the median time, with ok = false where nothing was measured.
func (r *report) seconds(op, who string) (float64, bool) {
	return median(r.times(op, who))
}

// cairn is the median time of the program or, where it takes no part, of the library.
func (r *report) cairn(op string) (float64, bool) {
	if s, ok := r.seconds(op, nameCLI); ok {
		return s, true
	}
	return r.seconds(op, nameLibrary)
}

// rival is the median time that cairn's is compared with. Who cannot borrow has one
// first track only.
func (r *report) rival(op, who string) (float64, bool) {
	if s, ok := r.seconds(op, who); ok || op != opFirstBorrowed {
		return s, ok
	}
	return r.seconds(opFirst, who)
}

// processor is the median processor time.
func (r *report) processor(op, who string) (float64, bool) {
	return median(r.values(op, who, func(s *sample) float64 { return s.CPUSeconds }))
}

// measured reports whether any contender carried out an operation.
func (r *report) measured(op string) bool {
	return slices.ContainsFunc(r.Samples, func(s sample) bool { return s.Operation == op })
}

// peak is the largest peak memory in bytes.
func (r *report) peak(op, who string) (float64, bool) {
	list := r.values(op, who, func(s *sample) float64 { return float64(s.PeakBytes) })
	if len(list) == 0 || slices.Max(list) == 0 {
		return 0, false
	}
	return slices.Max(list), true
}

// store is the store of a contender at a moment of the run, nil where unknown.
func (r *report) store(when, who string) *treeSize {
	for i := range r.Stores {
		if s := &r.Stores[i]; s.When == when && s.Who == who {
			return &s.treeSize
		}
	}
	return nil
}

func median(list []float64) (float64, bool) {
	if len(list) == 0 {
		return 0, false
	}
	list = slices.Sorted(slices.Values(list))
	if n := len(list); n%2 == 0 {
		return (list[n/2-1] + list[n/2]) / 2, true
	}
	return list[len(list)/2], true
}

// quantile is the smallest value that the share q of the list does not exceed.
func quantile(list []float64, q float64) (float64, bool) {
	if len(list) == 0 {
		return 0, false
	}
	list = slices.Sorted(slices.Values(list))
	return stat.Quantile(q, stat.Empirical, list, nil), true
}

func (r *report) writeJSON(w io.Writer) error {
	return writeJSON(w, r)
}

// writeBenchstat writes one line a sample in the form that benchstat reads, so that
// two runs can be compared: benchstat -col .file old.txt new.txt.
func (r *report) writeBenchstat(w io.Writer) error {
	var text strings.Builder
	fmt.Fprintf(&text, "goos: %s\ngoarch: %s\npkg: %s/bench\ncpu: %s\n", r.Machine.OS, r.Machine.Arch, modulePath, r.Machine.CPU)
	corpus := strings.NewReplacer(" ", "-", ",", "", "/", "_").Replace(r.Corpus.Name)
	for _, s := range r.Samples {
		fmt.Fprintf(&text, "Benchmark%s/corpus=%s/who=%s 1 %d ns/op", camel(s.Operation), corpus, s.Who, int64(s.Seconds*1e9))
		if s.CPUSeconds > 0 {
			fmt.Fprintf(&text, " %d cpu-ns/op", int64(s.CPUSeconds*1e9))
		}
		if s.PeakBytes > 0 {
			fmt.Fprintf(&text, " %d peak-B", s.PeakBytes)
		}
		text.WriteByte('\n')
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// camel makes a benchmark's name: first-track becomes FirstTrack.
func camel(op string) string {
	var name strings.Builder
	for part := range strings.SplitSeq(op, "-") {
		name.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return name.String()
}
