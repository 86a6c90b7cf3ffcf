package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// print writes the table with what it was measured on.
func (r *report) print(w io.Writer) error {
	var text strings.Builder
	fmt.Fprintf(&text, "machine: %s\n", r.Machine)
	fmt.Fprintf(&text, "corpus:  %s: %d files (%d not ignored), %d directories, %.0f MB; %d rounds, medians\n\n",
		r.Corpus.Name, r.Corpus.Files, r.Corpus.Captured, r.Corpus.Dirs, float64(r.Corpus.Bytes)/1e6, r.Rounds)
	if err := r.table().write(&text); err != nil {
		return err
	}
	text.WriteString("\n")
	if err := r.detail().write(&text); err != nil {
		return err
	}
	t := r.Throughput
	fmt.Fprintf(&text, "\none processor, MB/s of the corpus: SHA-1 %.0f, zlib level 1 %.0f (standard library), %.0f (klauspost)\n",
		t.SHA1/1e6, t.Zlib/1e6, t.FastZlib/1e6)
	if s, ok := r.seconds(floorSpawn, nameFloor); ok {
		fmt.Fprintf(&text, "starting an empty program: %.2f ms\n", s*1e3)
	}
	if r.Edited < manyFiles {
		r.note("the tree has only %d files to edit where the operations say 100", r.Edited)
	}
	for _, note := range r.Notes {
		fmt.Fprintf(&text, "note: %s\n", note)
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// resultsDir is where bare file names go.
const resultsDir = "bench/results"

func (r *report) save(opt options) error {
	return errors.Join(saveTo(opt.json, r.writeJSON), saveTo(opt.benchstat, r.writeBenchstat))
}

func saveTo(file string, write func(io.Writer) error) error {
	if file == "" {
		return nil
	}
	if !strings.ContainsAny(file, `/\`) {
		file = filepath.Join(filepath.FromSlash(resultsDir), file)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
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
