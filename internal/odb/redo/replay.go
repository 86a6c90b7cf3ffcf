package redo

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// check prepares a log that another process has written. Records of another token are replayed.
// The last record of this token may be the record of a process that was killed before it had
// carried it out: the log is emptied then, without that record's changes.
func (w *Writer) check() error {
	records := w.Records()
	if len(records) == 0 {
		return nil
	}
	token, ok := w.log.token()
	if !ok || slices.ContainsFunc(records, func(r Record) bool { return r.token != token }) {
		return w.replay(records)
	}
	if last := records[len(records)-1]; !w.log.carriedOut(&last) {
		return w.Flush()
	}
	return nil
}

// carriedOut reports whether the pack and the refs of a record are in the store.
func (l *Log) carriedOut(r *Record) bool {
	if r.Name != "" && !exists(l.stem(r)+indexExt) {
		return false
	}
	for _, ref := range r.Refs {
		if now, err := l.store.RefValue(ref.Name); err != nil || now != ref.To {
			return false
		}
	}
	return true
}

// replay carries all records out, in their order, and empties the log. A record may name a pack
// that was flushed before the record was. If such a pack of the last record is missing, its
// publish never returned, and the record is dropped. Of an earlier record, the pack was folded
// since.
func (w *Writer) replay(records []Record) error {
	if i := slices.IndexFunc(records, func(r Record) bool { return len(r.Pack) > 0 && w.log.store.CheckPack(&r) != nil }); i >= 0 {
		records = records[:i] // no publish has written such a record
	}
	for i := range records {
		ok, err := w.log.replayPack(&records[i])
		if err != nil {
			return err
		}
		if !ok && i == len(records)-1 {
			records = records[:i]
		}
	}
	if err := w.log.store.PacksChanged(); err != nil {
		return err
	}
	if err := w.log.replayRefs(records); err != nil {
		return err
	}
	return w.flush(records)
}

// replayPack writes the files of a pack unless they are whole. ok is false if the record does not
// hold them and they are missing.
func (l *Log) replayPack(r *Record) (ok bool, err error) {
	if r.Name == "" {
		return true, nil
	}
	stem := l.stem(r)
	if len(r.Pack) == 0 {
		return exists(stem+packExt) && exists(stem+indexExt), nil
	}
	for _, file := range []struct {
		path string
		want []byte
	}{{stem + packExt, r.Pack}, {stem + indexExt, r.Idx}} {
		got, err := atomicfile.Read(file.path)
		if err == nil && bytes.Equal(got, file.want) {
			continue
		}
		write := func(f io.Writer) error {
			_, err := f.Write(file.want)
			return err
		}
		if err := atomicfile.Write(file.path, 0o600, false, write); err != nil {
			return false, err
		}
	}
	return true, nil
}

// replayRefs gives each ref its last value in the records. It does so only if the ref has a value
// that a record names, or is unreadable or gone. Another value comes from a program that does not
// know the log, a git or an older cairn, and stays.
func (l *Log) replayRefs(records []Record) error {
	type value struct {
		name string
		id   object.ID
	}
	last := make(map[string]object.ID)
	named := make(map[value]bool)
	for _, r := range records {
		for _, ref := range r.Refs {
			last[ref.Name] = ref.To
			named[value{ref.Name, ref.From}], named[value{ref.Name, ref.To}] = true, true
		}
	}
	for name, to := range last {
		now, err := l.store.RefValue(name)
		if err == nil && (now == to || !now.IsZero() && !named[value{name, now}]) {
			continue
		}
		if err := l.store.ReplaceRef(name, to); err != nil {
			return fmt.Errorf("redo ref %s: %w", name, err)
		}
	}
	return nil
}

// Flush flushes every file that the log names, and empties it.
func (w *Writer) Flush() error { return w.flush(w.Records()) }

func (w *Writer) flush(records []Record) error {
	files, dirs := w.log.named(records, nil)
	if err := flushFiles(files); err != nil {
		return err
	}
	if err := flushDirs(dirs); err != nil {
		return err
	}
	return w.reset()
}

// FlushWithout is Flush beside a new pack that holds all objects of the packs named superseded,
// which need no flush therefore. write flushes the new pack at the same time, and place gives it
// its name.
func (w *Writer) FlushWithout(superseded []string, write, place func() error) error {
	files, dirs := w.log.named(w.Records(), superseded)
	err := atomicfile.AtOnce([]func() error{write, func() error { return flushFiles(files) }}, func(f func() error) error { return f() })
	if err != nil {
		return err
	}
	if err := place(); err != nil {
		return err
	}
	if !slices.Contains(dirs, w.log.packs) {
		dirs = append(dirs, w.log.packs)
	}
	if err := flushDirs(dirs); err != nil {
		return err
	}
	return w.reset()
}

// named returns the files that records name, and the directories of their names up to the one of
// all refs. It leaves out the superseded packs.
func (l *Log) named(records []Record, superseded []string) (files, dirs []string) {
	seen := make(map[string]bool)
	add := func(list *[]string, path string) {
		if !seen[path] {
			seen[path] = true
			*list = append(*list, path)
		}
	}
	for _, r := range records {
		if len(r.Pack) > 0 && !slices.Contains(superseded, r.Name) {
			stem := l.stem(&r)
			add(&files, stem+packExt)
			add(&files, stem+indexExt)
			add(&dirs, l.packs)
		}
		for _, ref := range r.Refs {
			path := l.store.RefPath(ref.Name)
			add(&files, path)
			for path != l.store.RefPath("refs") {
				path = filepath.Dir(path)
				add(&dirs, path)
			}
		}
	}
	return files, dirs
}

// flushFiles flushes files by their names. It passes over a file that another process, a git for
// instance, has moved or removed, and over anything that is not a regular file.
func flushFiles(paths []string) error {
	return flushEach(paths, atomicfile.SyncFile, func(err error) bool {
		return atomicfile.IsNoFile(err) || errors.Is(err, atomicfile.ErrNotRegular)
	})
}

// flushDirs flushes directories. It passes over a directory that another process has removed or
// replaced by something else: no name in it is left to be flushed.
func flushDirs(dirs []string) error {
	return flushEach(dirs, atomicfile.SyncDir, func(err error) bool {
		return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
	})
}

func flushEach(paths []string, flush func(path string) error, passed func(error) bool) error {
	return atomicfile.AtOnce(paths, func(path string) error {
		if err := flush(path); !passed(err) {
			return err
		}
		return nil
	})
}
