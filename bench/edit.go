package main

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
)

// edits changes the same files in the same way in every contender's tree. The
// contents before are remembered: an edit is always one of the original.
type edits struct {
	paths []string // '/'-separated, spread over the tree
	texts [][]byte // their original contents
}

// Only files that a person could edit are edited.
const minEditable, maxEditable = 200, 256 << 10

// chooseEdits picks up to n of the captured text files, evenly spread.
func chooseEdits(root string, captured []string, n int) (*edits, error) {
	var suitable []string
	for _, p := range captured {
		info, err := os.Lstat(filepath.Join(root, filepath.FromSlash(p)))
		if err != nil {
			return nil, err
		}
		if info.Mode().IsRegular() && info.Size() >= minEditable && info.Size() <= maxEditable && path.Base(p)[0] != '.' {
			suitable = append(suitable, p)
		}
	}
	e := &edits{}
	for slot := range n {
		if err := e.takeText(root, suitable[slot*len(suitable)/n:(slot+1)*len(suitable)/n], slot+1); err != nil {
			return nil, err
		}
	}
	// Slots without a text file are made up for from anywhere.
	if err := e.takeText(root, suitable, min(n, len(suitable))); err != nil {
		return nil, err
	}
	if len(e.paths) == 0 {
		return nil, fmt.Errorf("%s has no text file of %d to %d bytes to edit", root, minEditable, maxEditable)
	}
	return e, nil
}

// takeText takes text files from paths that were not taken yet until there are n.
func (e *edits) takeText(root string, paths []string, n int) error {
	for _, p := range paths {
		if len(e.paths) >= n {
			return nil
		}
		if slices.Contains(e.paths, p) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(p)))
		if err != nil {
			return err
		}
		if bytes.IndexByte(text, 0) < 0 {
			e.paths, e.texts = append(e.paths, p), append(e.texts, text)
		}
	}
	return nil
}

// apply edits the files [from, to). Every round of every operation gives contents that no store has
// yet. A file with these contents stays as it is: another contender in the same tree was first, and
// for the others that is one change as well.
func (e *edits) apply(root string, from, to int, op string, round int) error {
	for i := from; i < to; i++ {
		if err := write(e.file(root, i), e.edited(i, op, round)); err != nil {
			return err
		}
	}
	return nil
}

// write gives a file contents unless it has them.
func write(file string, want []byte) error {
	if has, err := os.ReadFile(file); err != nil || bytes.Equal(has, want) {
		return err
	}
	return os.WriteFile(file, want, 0o644)
}

// edited puts one line into the middle.
func (e *edits) edited(i int, op string, round int) []byte {
	text := e.texts[i]
	at := len(text)/2 + 1 + bytes.IndexByte(text[len(text)/2:], '\n')
	line := fmt.Appendf(nil, "an edit: %s, round %d, file %d\n", op, round, i)
	return bytes.Join([][]byte{text[:at], text[at:]}, line)
}

// undone reports an error unless all files have their original contents.
func (e *edits) undone(root string) error {
	for i := range e.paths {
		text, err := os.ReadFile(e.file(root, i))
		if err != nil {
			return err
		}
		if !bytes.Equal(text, e.texts[i]) {
			return fmt.Errorf("%s was not brought back", e.file(root, i))
		}
	}
	return nil
}

// undo writes the original contents again.
func (e *edits) undo(root string) error {
	for i, text := range e.texts {
		if err := write(e.file(root, i), text); err != nil {
			return err
		}
	}
	return nil
}

// create makes n new files beside edited ones and returns their paths.
func (e *edits) create(root string, n, round int) ([]string, error) {
	var made []string
	for i := range n {
		beside := e.paths[i*len(e.paths)/n]
		name := fmt.Sprintf("new-%d-%d%s", round, i, path.Ext(beside))
		file := filepath.Join(root, filepath.FromSlash(path.Join(path.Dir(beside), name)))
		made = append(made, file)
		if err := os.WriteFile(file, fmt.Appendf(nil, "a new file of round %d\n", round), 0o644); err != nil {
			return made, err
		}
	}
	return made, nil
}

func (e *edits) file(root string, i int) string {
	return filepath.Join(root, filepath.FromSlash(e.paths[i]))
}
