package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// print writes the tables with what they were measured on.
func (r *report) print(w io.Writer) error {
	_, err := fmt.Fprintf(w, "machine: %s\n", r.Machine)
	return errors.Join(err, r.printCorpus(w))
}

// printCorpus leaves out the machine, which several corpora may share.
func (r *report) printCorpus(w io.Writer) error {
	var text strings.Builder
	fmt.Fprintf(&text, "corpus:  %s\n\n", r.corpusText())
	for _, t := range append([]table{r.table(), r.goalTable()}, r.details()...) {
		if err := t.write(&text); err != nil {
			return err
		}
		text.WriteString("\n")
	}
	t := r.Throughput
	fmt.Fprintf(&text, "one processor, MB/s of the corpus: SHA-1 %.0f, zlib level 1 %.0f (standard library), %.0f (klauspost)\n",
		t.SHA1/1e6, t.Zlib/1e6, t.FastZlib/1e6)
	if s, ok := r.seconds(floorSpawn, nameFloor); ok {
		fmt.Fprintf(&text, "starting an empty program: %.2f ms\n", s*1e3)
	}
	if heap, resident, ok := r.perFile(); ok {
		fmt.Fprintf(&text, "watching, memory of a file: %.0f bytes of the heap, %.0f bytes of the process\n", heap, resident)
	}
	if one, ok := r.seconds(floorWalkAlone, nameFloor); ok {
		if all, ok := r.seconds(floorWalk, nameFloor); ok {
			fmt.Fprintf(&text, "the walk itself is faster by %.2f on all processors than on one\n", one/all)
		}
	}
	if r.Edited < manyFiles {
		r.note("the tree has only %d files to edit where the operations say 100", r.Edited)
	}
	if r.EditedLarge < largeFiles {
		r.note("the tree has only %d files to edit where the operations say 1,000", r.EditedLarge)
	}
	for _, note := range r.Notes {
		fmt.Fprintf(&text, "note: %s\n", note)
	}
	_, err := io.WriteString(w, text.String())
	return err
}

func (r *report) corpusText() string {
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

// save writes the files of a report; "" stands for no file.
func (r *report) save(json, benchstat string) error {
	return errors.Join(saveTo(json, r.writeJSON), saveTo(benchstat, r.writeBenchstat))
}

func saveTo(file string, write func(io.Writer) error) error {
	if file == "" {
		return nil
	}
	file = resultFile(file)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}

// resultFile is where a file lies: a bare name with the results.
func resultFile(file string) string {
	if strings.ContainsAny(file, `/\`) {
		return file
	}
	return filepath.Join(resultsDir, file)
}

// progress tells people what is going on.
type progress struct {
	w     io.Writer
	quiet bool
}

func (p *progress) say(format string, args ...any) {
	if !p.quiet {
		fmt.Fprintf(p.w, format+"\n", args...)
	}
}
