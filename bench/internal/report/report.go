package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn/bench/internal/names"
	"github.com/seed-fb9cbc17/cairn/bench/internal/system"
	"github.com/seed-fb9cbc17/cairn/bench/internal/trees"
)

// LeftOut lists the contenders without a column, and the reason.
func (r *Report) LeftOut(slow []string) {
	for _, name := range slow {
		r.Note("%s is left out: here it would take longer than all the others together", name)
	}
}

// Throughput is bytes per second on one processor, over contents of the corpus.
type Throughput struct {
	SHA1     float64 `json:"sha1"`
	Zlib     float64 `json:"zlib"`     // level 1 of the standard library
	FastZlib float64 `json:"fastZlib"` // level 1 of klauspost/compress
}

// Report is what a run found. results/README.md describes its JSON form.
type Report struct {
	Version    int            `json:"version"`
	Time       time.Time      `json:"time"`
	Machine    system.Machine `json:"machine"`
	Corpus     corpusInfo     `json:"corpus"`
	Rounds     int            `json:"rounds"`
	Edited     int            `json:"edited"` // files that the operations on "100" files change
	Throughput Throughput     `json:"throughput"`
	Samples    []Sample       `json:"samples"`
	Stores     []StoreInfo    `json:"stores"`
	Notes      []string       `json:"notes,omitempty"`

	HeavyRounds int          `json:"heavyRounds,omitempty"` // of first tracks and all that rewrites files
	EditedLarge int          `json:"editedLarge,omitempty"` // files that the operations on "1,000" files change
	Memory      []MemoryInfo `json:"memory,omitempty"`

	Versions map[string]string `json:"versions,omitempty"` // of the programs of contenders, by name

	Wrong error `json:"-"` // the first disagreement about a result
}

// Version changes when a field changes its meaning.
const Version = 1

// Sample is one measurement.
type Sample struct {
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
	trees.TreeSize
}

// MemoryInfo is what a contender's process holds between operations.
type MemoryInfo struct {
	Who           string `json:"who"`
	When          string `json:"when"` // "started" or "watching"
	HeapBytes     int64  `json:"heapBytes"`
	ResidentBytes int64  `json:"residentBytes,omitempty"`
}

// StoreInfo is the size of a contender's store at a moment.
type StoreInfo struct {
	Who  string `json:"who"`
	When string `json:"when"`
	trees.TreeSize
}

// Note adds a remark, once.
func (r *Report) Note(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(r.Notes, text) {
		r.Notes = append(r.Notes, text)
	}
}

// Disagree notes that a result is wrong. The run goes on, since what it measures may
// show why, and ends with an error.
func (r *Report) Disagree(format string, args ...any) {
	r.Note(format, args...)
	if r.Wrong == nil {
		r.Wrong = fmt.Errorf(format, args...)
	}
}

// values are all measurements of an operation by one contender.
func (r *Report) values(op, who string, of func(*Sample) float64) []float64 {
	var list []float64
	for i := range r.Samples {
		if s := &r.Samples[i]; s.Operation == op && s.Who == who {
			list = append(list, of(s))
		}
	}
	return list
}

// Times are the wall times of an operation by one contender, those in a row included.
func (r *Report) Times(op, who string) (list []float64) {
	for i := range r.Samples {
		if s := &r.Samples[i]; s.Operation == op && s.Who == who && len(s.InRow) > 0 {
			list = append(list, s.InRow...)
		} else if s.Operation == op && s.Who == who {
			list = append(list, s.Seconds)
		}
	}
	return list
}

// PerFile is the memory for each captured file that watching takes: of the heap, and
// of all of the process.
func (r *Report) PerFile() (heap, resident float64, ok bool) {
	var started, watching *MemoryInfo
	for i := range r.Memory {
		switch m := &r.Memory[i]; {
		case m.Who == names.Watching && m.When == names.MemoryStarted:
			started = m
		case m.Who == names.Watching:
			watching = m
		}
	}
	if started == nil || watching == nil || r.Corpus.Captured == 0 {
		return 0, 0, false
	}
	files := float64(r.Corpus.Captured)
	return float64(watching.HeapBytes-started.HeapBytes) / files, float64(watching.ResidentBytes-started.ResidentBytes) / files, true
}

// Seconds is the median time, with ok = false where nothing was measured.
func (r *Report) Seconds(op, who string) (float64, bool) {
	return system.Median(r.Times(op, who))
}

// cairn is the median time of the program or, where it takes no part, of the library.
func (r *Report) cairn(op string) (float64, bool) {
	if s, ok := r.Seconds(op, names.CLI); ok {
		return s, true
	}
	return r.Seconds(op, names.Library)
}

// rival is the median time that cairn's is compared with. Who cannot borrow has one
// first track only.
func (r *Report) rival(op, who string) (float64, bool) {
	if s, ok := r.Seconds(op, who); ok || op != names.OpFirstBorrowed {
		return s, ok
	}
	return r.Seconds(names.OpFirst, who)
}

// processor is the median processor time.
func (r *Report) processor(op, who string) (float64, bool) {
	return system.Median(r.values(op, who, func(s *Sample) float64 { return s.CPUSeconds }))
}

// measured reports whether any contender carried out an operation.
func (r *Report) measured(op string) bool {
	return slices.ContainsFunc(r.Samples, func(s Sample) bool { return s.Operation == op })
}

// peak is the largest peak memory in bytes.
func (r *Report) peak(op, who string) (float64, bool) {
	list := r.values(op, who, func(s *Sample) float64 { return float64(s.PeakBytes) })
	if len(list) == 0 || slices.Max(list) == 0 {
		return 0, false
	}
	return slices.Max(list), true
}

// Store is the store of a contender at a moment of the run, nil where unknown.
func (r *Report) Store(when, who string) *trees.TreeSize {
	for i := range r.Stores {
		if s := &r.Stores[i]; s.When == when && s.Who == who {
			return &s.TreeSize
		}
	}
	return nil
}

func (r *Report) writeJSON(w io.Writer) error {
	return WriteJSON(w, r)
}

// writeBenchstat writes one line a sample in the form that benchstat reads, so that
// two runs can be compared: benchstat -col .file old.txt new.txt.
func (r *Report) writeBenchstat(w io.Writer) error {
	var text strings.Builder
	fmt.Fprintf(&text, "goos: %s\ngoarch: %s\npkg: %s/bench\ncpu: %s\n", r.Machine.OS, r.Machine.Arch, names.ModulePath, r.Machine.CPU)
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
