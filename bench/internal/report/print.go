package report

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-fb9cbc17/cairn/bench/internal/names"
)

// Print writes the tables with what they were measured on.
func (r *Report) Print(w io.Writer) error {
	_, err := fmt.Fprintf(w, "machine: %s\n", r.Machine)
	return errors.Join(err, r.PrintCorpus(w))
}

// PrintCorpus leaves out the machine, which several corpora may share.
func (r *Report) PrintCorpus(w io.Writer) error {
	var text strings.Builder
	fmt.Fprintf(&text, "corpus:  %s\n\n", r.CorpusText())
	for _, t := range append([]Table{r.table(), r.goalTable()}, r.details()...) {
		if err := t.Write(&text); err != nil {
			return err
		}
		text.WriteString("\n")
	}
	t := r.Throughput
	fmt.Fprintf(&text, "one processor, MB/s of the corpus: SHA-1 %.0f, zlib level 1 %.0f (standard library), %.0f (klauspost)\n",
		t.SHA1/1e6, t.Zlib/1e6, t.FastZlib/1e6)
	if s, ok := r.Seconds(names.FloorSpawn, names.Floor); ok {
		fmt.Fprintf(&text, "starting an empty program: %.2f ms\n", s*1e3)
	}
	if heap, resident, ok := r.PerFile(); ok {
		fmt.Fprintf(&text, "watching, memory of a file: %.0f bytes of the heap, %.0f bytes of the process\n", heap, resident)
	}
	if one, ok := r.Seconds(names.FloorWalkAlone, names.Floor); ok {
		if all, ok := r.Seconds(names.FloorWalk, names.Floor); ok {
			fmt.Fprintf(&text, "the walk itself is faster by %.2f on all processors than on one\n", one/all)
		}
	}
	if r.Edited < names.ManyFiles {
		r.Note("the tree has only %d files to edit where the operations say 100", r.Edited)
	}
	if r.EditedLarge < names.LargeFiles {
		r.Note("the tree has only %d files to edit where the operations say 1,000", r.EditedLarge)
	}
	for _, note := range r.Notes {
		fmt.Fprintf(&text, "note: %s\n", note)
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// CorpusText says what was measured on.
func (r *Report) CorpusText() string {
	c := &r.Corpus
	text := fmt.Sprintf("%s: %d files (%d not ignored), %d directories, %.0f MB; %d rounds", c.Name, c.Files, c.Captured, c.Dirs, float64(c.Bytes)/1e6, r.Rounds)
	if r.HeavyRounds < r.Rounds {
		text += fmt.Sprintf(" (%d of first tracks, restores, reverts)", r.HeavyRounds)
	}
	if text += ", medians"; c.OneTree {
		text += "; all contenders in one tree"
	}
	return text
}

// resultsDir is where bare file names go.
const resultsDir = "results"

// Save writes the files of a report; "" stands for no file.
func (r *Report) Save(json, benchstat string) error {
	return errors.Join(SaveTo(json, r.writeJSON), SaveTo(benchstat, r.writeBenchstat))
}

// SaveTo writes a file with its directory. A bare name lies in results; "" is no file.
func SaveTo(file string, write func(io.Writer) error) error {
	if file == "" {
		return nil
	}
	file = ResultFile(file)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}

// ResultFile is where a file lies: a bare name with the results.
func ResultFile(file string) string {
	if strings.ContainsAny(file, `/\`) {
		return file
	}
	return filepath.Join(resultsDir, file)
}
