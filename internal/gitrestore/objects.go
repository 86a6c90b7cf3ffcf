package gitrestore

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/gitstate"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
)

// wanted lists the objects that the repository has to have.
func (r *run) wanted() (ids []string, err error) {
	if r.Head != nil && !isSymbolic(r.Head.To) {
		ids = append(ids, r.Head.To)
	}
	for _, m := range r.Refs {
		if m.To != "" && !isSymbolic(m.To) {
			ids = append(ids, m.To)
		}
	}
	for _, s := range r.Stashes {
		ids = append(ids, s.ID)
	}
	if r.Index && r.target.IndexTree != "" {
		ids = append(ids, r.target.IndexTree)
	} else if r.Index {
		blobs, err := r.indexed()
		if err != nil {
			return nil, err
		}
		ids = append(ids, blobs...)
	}
	named, err := r.namedInProgress()
	ids = append(ids, named...)
	slices.Sort(ids)
	return slices.Compact(ids), err
}

// indexed has git list the objects of the index in the plan. Git looks for a shared index in the git
// directory, so the index gets a directory of its own. It lies beside the vault under the name of a
// claim: the store removes it where the process is killed.
func (r *run) indexed() ([]string, error) {
	claim, err := atomicfile.Create(filepath.Dir(r.Vault), atomicfile.Prefix)
	if err != nil {
		return nil, err
	}
	defer os.Remove(claim.Name())
	defer claim.Close()
	dir := claim.Name() + odb.AsideSuffix
	defer os.RemoveAll(dir)
	config, err := os.ReadFile(filepath.Join(r.Vault, "config"))
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{"config": config, "HEAD": []byte("ref: refs/heads/none\n"), "objects/none": nil, "refs/none": nil}
	for name, data := range only(r.target, gitstate.IsIndex) {
		files[name] = data
	}
	for name, data := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return nil, err
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			return nil, err
		}
	}
	out, err := r.in(dir, "", "ls-files", "--stage", "-z")
	if err != nil {
		return nil, err
	}
	var ids []string
	for entry := range strings.SplitSeq(out, "\x00") {
		fields := strings.SplitN(entry, " ", 3)
		if len(fields) == 3 && fields[0] != "160000" && strings.Trim(fields[1], "0") != "" {
			ids = append(ids, fields[1])
		}
	}
	return ids, nil
}

// objectNames lists the words of a text that have the form of an object name.
func objectNames(text string) (names []string) {
	isOther := func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) }
	for _, word := range strings.FieldsFunc(text, isOther) {
		if (len(word) == 40 || len(word) == 64) && strings.Trim(word, "0123456789abcdef") == "" {
			names = append(names, word)
		}
	}
	return names
}

// namedInProgress lists the objects that the files of an operation in progress name. A message may
// name others: those that the vault lacks do not count.
func (r *run) namedInProgress() (ids []string, err error) {
	var names []string
	for _, name := range r.Progress {
		names = append(names, objectNames(string(r.target.Files[name]))...)
	}
	if len(names) == 0 {
		return nil, nil
	}
	return r.kept(names)
}

// kept lists those of some objects that the vault has.
func (r *run) kept(names []string) (ids []string, err error) { return r.present(r.Vault, names) }

// present lists those of some objects that a git directory has.
func (r *run) present(dir string, names []string) (ids []string, err error) {
	out, err := r.in(dir, strings.Join(names, "\n")+"\n", "cat-file", "--batch-check=%(objectname) %(objecttype)")
	for line := range strings.Lines(out) {
		switch id, kind, _ := strings.Cut(strings.TrimSpace(line), " "); kind {
		case "commit", "tag", "tree", "blob":
			ids = append(ids, id)
		}
	}
	return ids, err
}

// has reports whether the repository has some objects and all that they lead to. In a partial clone
// those may be missing that a remote has, but none that the vault can give. A git from 2.44 that is told
// so overlooks missing commits in any repository.
func (r *run) has(ids []string) bool {
	args := []string{"rev-list", "--objects", "--quiet", "--stdin", "--not", "--all"}
	if r.partial() {
		if !r.hasKept(ids) {
			return false
		}
		args = slices.Insert(args, 1, "--missing=allow-promisor")
	}
	_, err := r.git(strings.Join(ids, "\n")+"\n", args...)
	return err == nil
}

// hasKept reports whether the repository has those of some objects that the vault has.
func (r *run) hasKept(ids []string) bool {
	kept, err := r.kept(ids)
	if err != nil || len(kept) == 0 {
		return err == nil
	}
	there, err := r.present(r.dir, kept)
	return err == nil && len(there) == len(kept)
}

// bringObjects copies the objects that the repository lacks out of the vault.
func (r *run) bringObjects() error {
	ids, err := r.wanted()
	if err != nil || len(ids) == 0 || r.has(ids) {
		return err
	}
	tips, err := r.git("", "for-each-ref", "--format=%(objectname)")
	if err != nil {
		return err
	}
	var revs strings.Builder
	for _, id := range ids {
		fmt.Fprintln(&revs, id)
	}
	if names := strings.Fields(tips); len(names) > 0 {
		there, err := r.kept(names)
		if err != nil {
			return err
		}
		for _, id := range there {
			fmt.Fprintln(&revs, "^"+id)
		}
	}
	if err := r.copyObjects(revs.String()); err != nil {
		return fmt.Errorf("%w: not all objects were kept: %w", ErrRefused, err)
	}
	if !r.has(ids) {
		return fmt.Errorf("%w: not all objects were kept", ErrRefused)
	}
	return nil
}

// copyObjects moves a pack from the vault into the repository. In a partial clone the pack counts as
// one whose missing objects a remote has.
func (r *run) copyObjects(revs string) error {
	pack, unpack := []string{"pack-objects", "-q", "--revs", "--stdout"}, []string{"index-pack", "--stdin"}
	if r.partial() {
		pack, unpack = append(pack, "--missing=allow-any"), append(unpack, "--promisor")
	}
	reader, writer := io.Pipe()
	packed := make(chan error, 1)
	go func() {
		err := r.pipe(r.Vault, strings.NewReader(revs), writer, pack...)
		writer.CloseWithError(err)
		packed <- err
	}()
	in := bufio.NewReader(reader)
	head, err := in.Peek(12)
	if err == nil && string(head[8:12]) != "\x00\x00\x00\x00" {
		err = r.pipe(r.dir, in, io.Discard, unpack...)
	}
	reader.Close()
	if perr := <-packed; perr != nil && err != nil {
		return perr
	}
	return err
}

// partial reports whether the repository is a partial clone.
func (r *run) partial() bool {
	return strings.Contains(strings.ToLower(string(r.target.Files[gitstate.CommonPrefix+"config"])), "promisor")
}
