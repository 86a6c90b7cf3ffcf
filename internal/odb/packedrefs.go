package odb

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
)

// packedRefs are the refs in the file packed-refs.
type packedRefs []Ref

// linePrefix begins the name of a Ref that stands for an invalid line of packed-refs. No ref has
// such a name.
const linePrefix = "packed-refs:"

// IsLine reports whether a Ref stands for a line of packed-refs that names no ref.
func (r Ref) IsLine() bool { return strings.HasPrefix(r.Name, linePrefix) }

func (p packedRefs) find(name string) (Ref, bool) {
	for _, r := range p {
		if r.Name == name {
			return r, true
		}
	}
	return Ref{}, false
}

func (db *DB) packedRefs() (packedRefs, error) {
	data, err := atomicfile.Read(db.path("packed-refs"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, pack.Damage(err)
	}
	return parsePackedRefs(string(data)), nil
}

// parsePackedRefs decodes packed-refs. An invalid line becomes a Ref with an Err. It has the name
// of the ref if the line has one, and otherwise the number of the line.
func parsePackedRefs(text string) packedRefs {
	var refs packedRefs
	n := 0
	for line := range strings.Lines(text) {
		n++
		if r, ok := parsePackedRef(line, n); ok {
			refs = append(refs, r)
		}
	}
	return refs
}

func parsePackedRef(line string, n int) (r Ref, ok bool) {
	text, whole := strings.CutSuffix(line, "\n")
	if text == "" || text[0] == '#' || text[0] == '^' { // a header, or the object of the tag above
		return r, false
	}
	digits, name, _ := strings.Cut(text, " ")
	id, err := object.ParseID(digits)
	switch {
	case checkRefName(name) != nil:
		return Ref{Name: fmt.Sprintf("%s%d", linePrefix, n), Err: pack.Corrupt("packed ref %.80q", text)}, true
	case err != nil, id.IsZero(), !whole:
		return Ref{Name: name, Err: pack.Corrupt("packed ref %.80q", text)}, true
	}
	return Ref{Name: name, ID: id}, true
}

// withoutRef returns the text of packed-refs without a ref and its peeled line.
func withoutRef(text, name string) (rest string, found bool) {
	var out strings.Builder
	dropping := false
	for line := range strings.Lines(text) {
		if line[0] != '^' {
			r, ok := parsePackedRef(line, 0)
			dropping = ok && r.Name == name
			found = found || dropping
		}
		if !dropping {
			out.WriteString(line)
		}
	}
	return out.String(), found
}

// unpackRef removes a ref from packed-refs and reports whether it was there. It rewrites the file
// under packed-refs.lock, as git does: two writers without a lock would lose refs of each other.
func (db *DB) unpackRef(name string) (found bool, err error) {
	packed, err := db.packedRefs()
	if err != nil {
		return false, err
	}
	if _, found := packed.find(name); !found {
		return false, nil
	}
	unlock, err := db.lockPackedRefs()
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	data, err := atomicfile.Read(db.path("packed-refs"))
	if err != nil {
		return false, pack.Damage(err)
	}
	rest, found := withoutRef(string(data), name)
	if !found {
		return false, nil
	}
	return true, writeFile(db.path("packed-refs"), []byte(rest), !db.opt.NoSync)
}

// packedRefsWait bounds the wait for another writer of packed-refs.
const packedRefsWait = time.Second

// lockPackedRefs takes git's lock of packed-refs. A lock of git's does not end with its owner.
// This one does: it is a second name of a claimed file in cairn/, and Sweep removes both. The
// lock of a git that was killed has to be removed by the user, because it looks like the lock of
// a running one. So does this one on a file system without hard links, as exFAT.
func (db *DB) lockPackedRefs() (unlock func() error, err error) {
	claim, err := atomicfile.Create(db.path(privateDir), atomicfile.Prefix)
	if err != nil {
		return nil, err
	}
	lock := db.path(packedRefsLock)
	if err = linkOrMake(claim.Name(), lock); errors.Is(err, fs.ErrExist) {
		waitFor(lock, packedRefsWait)
		err = linkOrMake(claim.Name(), lock)
	}
	if errors.Is(err, fs.ErrExist) {
		err = fmt.Errorf("git is writing packed-refs; if no git is running in the store, remove %s", lock)
	}
	if err != nil {
		return nil, errors.Join(err, atomicfile.RemoveClaimed(claim))
	}
	return func() error { return atomicfile.RemoveClaimed(claim, lock) }, nil
}

const packedRefsLock = "packed-refs.lock"

// linkOrMake gives a file a second name. Where there are no hard links it makes an empty file of
// that name. A name that is taken is fs.ErrExist.
func linkOrMake(from, to string) error {
	err := os.Link(from, to)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// SalvagePackedRefs writes packed-refs again with the lines that name a ref, and the lines that
// belong to them. The old file is set aside.
func (db *DB) SalvagePackedRefs() (err error) {
	unlock, err := db.lockPackedRefs()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	path := db.path("packed-refs")
	data, err := atomicfile.Read(path)
	if err != nil {
		return err
	}
	var good strings.Builder
	dropping := false
	for line := range strings.Lines(string(data)) {
		r, ok := parsePackedRef(line, 0)
		switch {
		case ok:
			dropping = r.Err != nil
		case line[0] == '#':
			dropping = false
		}
		if !dropping {
			good.WriteString(line)
		}
	}
	if err := db.SetAside(path); err != nil {
		return err
	}
	return writeFile(path, []byte(good.String()), !db.opt.NoSync)
}
