package trees

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
)

// Edits changes the same files in the same way in every contender's tree. The
// contents before are remembered: an edit is always one of the original.
type Edits struct {
	Paths []string // '/'-separated, spread over the tree
	Texts [][]byte // their original contents
}

// First are the first n of the edits.
func (e *Edits) First(n int) *Edits {
	n = min(n, len(e.Paths))
	return &Edits{Paths: e.Paths[:n], Texts: e.Texts[:n]}
}

// Only files that a person could edit are edited.
const minEditable, MaxEditable = 200, 256 << 10

// ChooseEdits picks up to n of the captured text files, evenly spread.
func ChooseEdits(root string, captured []string, n int) (*Edits, error) {
	var suitable []string
	for _, p := range captured {
		info, err := os.Lstat(filepath.Join(root, filepath.FromSlash(p)))
		if err != nil {
			return nil, err
		}
		if info.Mode().IsRegular() && info.Size() >= minEditable && info.Size() <= MaxEditable && path.Base(p)[0] != '.' {
			suitable = append(suitable, p)
		}
	}
	e := &Edits{}
	for slot := range n {
		if err := e.takeText(root, suitable[slot*len(suitable)/n:(slot+1)*len(suitable)/n], slot+1); err != nil {
			return nil, err
		}
	}
	// Slots without a text file are made up for from anywhere.
	if err := e.takeText(root, suitable, min(n, len(suitable))); err != nil {
		return nil, err
	}
	if len(e.Paths) == 0 {
		return nil, fmt.Errorf("%s has no text file of %d to %d bytes to edit", root, minEditable, MaxEditable)
	}
	return e, nil
}

// takeText takes text files from paths that were not taken yet until there are n.
func (e *Edits) takeText(root string, paths []string, n int) error {
	for _, p := range paths {
		if len(e.Paths) >= n {
			return nil
		}
		if slices.Contains(e.Paths, p) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(p)))
		if err != nil {
			return err
		}
		if bytes.IndexByte(text, 0) < 0 {
			e.Paths, e.Texts = append(e.Paths, p), append(e.Texts, text)
		}
	}
	return nil
}

// Apply edits the files [from, to). Every round of every operation gives contents that no store has
// yet. A file with these contents stays as it is: another contender in the same tree was first, and
// for the others that is one change as well.
func (e *Edits) Apply(root string, from, to int, op string, round int) error {
	for i := from; i < to; i++ {
		if err := write(e.File(root, i), e.edited(i, op, round)); err != nil {
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
func (e *Edits) edited(i int, op string, round int) []byte {
	text := e.Texts[i]
	at := len(text)/2 + 1 + bytes.IndexByte(text[len(text)/2:], '\n')
	line := fmt.Appendf(nil, "an edit: %s, round %d, file %d\n", op, round, i)
	return bytes.Join([][]byte{text[:at], text[at:]}, line)
}

// Undone reports an error unless all files have their original contents.
func (e *Edits) Undone(root string) error {
	for i := range e.Paths {
		text, err := os.ReadFile(e.File(root, i))
		if err != nil {
			return err
		}
		if !bytes.Equal(text, e.Texts[i]) {
			return fmt.Errorf("%s was not brought back", e.File(root, i))
		}
	}
	return nil
}

// Undo writes the original contents again.
func (e *Edits) Undo(root string) error {
	for i, text := range e.Texts {
		if err := write(e.File(root, i), text); err != nil {
			return err
		}
	}
	return nil
}

// Create makes n new files beside edited ones and returns their paths.
func (e *Edits) Create(root string, n, round int) ([]string, error) {
	var made []string
	for i := range n {
		beside := e.Paths[i*len(e.Paths)/n]
		name := fmt.Sprintf("new-%d-%d%s", round, i, path.Ext(beside))
		file := filepath.Join(root, filepath.FromSlash(path.Join(path.Dir(beside), name)))
		made = append(made, file)
		if err := os.WriteFile(file, fmt.Appendf(nil, "a new file of round %d\n", round), 0o644); err != nil {
			return made, err
		}
	}
	return made, nil
}

// File is the path of the i-th file below root.
func (e *Edits) File(root string, i int) string {
	return filepath.Join(root, filepath.FromSlash(e.Paths[i]))
}
