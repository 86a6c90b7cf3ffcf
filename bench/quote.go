package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// quoted are the documents with a table of results between two comments that name the corpus, and the
// way from there to the results.
var quoted = map[string]string{"../README.md": "bench/results/", "../docs/speed.md": "../bench/results/"}

// quote puts the tables of a run of -table into the documents.
func quote(_ context.Context, opt options, out, _ io.Writer) error {
	if opt.json == "" {
		opt.json = tableForm.file
	}
	s, err := readSuite(opt.json)
	if err != nil {
		return err
	}
	all := strings.TrimSuffix(filepath.Base(opt.json), ".json") + ".md"
	for _, file := range slices.Sorted(maps.Keys(quoted)) {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		changed, err := s.quoteInto(string(text), quoted[file]+all)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if err := os.WriteFile(file, []byte(changed), 0o644); err != nil {
			return err
		}
		fmt.Fprintln(out, file)
	}
	return nil
}

const (
	quoteBegin = "<!-- table: "
	quoteEnd   = "<!-- end of table -->\n"
)

// quoteInto replaces what stands between "<!-- table: NAME -->" and the end. After the name may stand
// "short". The table says where all of it is.
func (s *suite) quoteInto(text, all string) (string, error) {
	before, rest, found := strings.Cut(text, quoteBegin)
	if !found {
		return "", errors.New("it has no table to replace")
	}
	var done strings.Builder
	for found {
		done.WriteString(before)
		mark, after, ok := strings.Cut(rest, " -->\n")
		_, rest, found = strings.Cut(after, quoteEnd)
		if !ok || !found {
			return "", errors.New("a table has no end")
		}
		name, short := strings.CutSuffix(mark, " short")
		i := slices.IndexFunc(s.Runs, func(r *run) bool { return r.Plan == name })
		if i < 0 {
			return "", fmt.Errorf("the results have no corpus called %q", name)
		}
		done.WriteString(quoteBegin + mark + " -->\n")
		if err := s.Runs[i].writeQuote(&done, short, all); err != nil {
			return "", err
		}
		done.WriteString(quoteEnd)
		before, rest, found = strings.Cut(rest, quoteBegin)
	}
	return done.String() + before, nil
}

// writeQuote is the table with a line that says what it was measured on.
func (r *run) writeQuote(w io.Writer, short bool, all string) error {
	_, err := fmt.Fprintf(w, "\n%s, %d files, %d processors, %s, medians in ms ([all of it](%s)):\n\n",
		r.Title, r.Report.Corpus.Captured, r.Machine.Processors, r.Time.Format("2006-01-02"), all)
	err = errors.Join(err, r.QuotedTable(short).WriteNarrow(w))
	for i, reason := range r.Reasons(short) {
		if i == 0 {
			fmt.Fprint(w, "\nWhere cairn is not first, or misses a goal:\n\n")
		}
		fmt.Fprintln(w, wrapped("- "+reason))
	}
	return err
}

// wrapped breaks an item of a list into lines as documents have them.
func wrapped(text string) string {
	const columns = 116
	var done strings.Builder
	at := 0
	for i, word := range strings.Fields(text) {
		length := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case at+1+length > columns:
			done.WriteString("\n  ")
			at = 2
		default:
			done.WriteString(" ")
			at++
		}
		done.WriteString(word)
		at += length
	}
	return done.String()
}
