package main

import (
	"bytes"
	"crypto/sha1"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
	"time"

	fastzlib "github.com/klauspost/compress/zlib"
)

// What a change adds to a track is less than one track differs from the next. So it is
// taken in pairs: a track of an unchanged tree, and at once the one after the change.

// pairs is how many of them a round has: they are cheap, and each alone says little.
const pairs = 4

// settling is how long a file may be read again after it was written, since its times do
// not show yet whether it was written once more.
const settling = 150 * time.Millisecond

func (d *driver) aboveOne() error { return d.above(opAboveOne, 1) }

func (d *driver) aboveMany() error { return d.above(opAboveMany, len(d.edits.paths)) }

// above times pairs, each with as many edited files.
func (d *driver) above(op string, edited int) error {
	err := d.rounds(op, light, func(s *remote, round int) error {
		for i := range pairs {
			if err := d.pair(s, op, edited, round, (round+1)*pairs+i); err != nil {
				return err
			}
		}
		return nil
	}, d.changeFloor(op, edited))
	for _, s := range d.subjects {
		if s.can(op) {
			err = errors.Join(err, d.edits.undo(s.Root))
		}
	}
	return err
}

// pair records by how much the second track takes longer. Contenders share a tree: each
// makes edits of its own.
func (d *driver) pair(s *remote, op string, edited, round, n int) error {
	time.Sleep(settling)
	if _, err := s.track(); err != nil {
		return err
	}
	unchanged, err := s.do(request{Op: opTrack, InRow: true})
	if err != nil {
		return err
	}
	from := n % (len(d.edits.paths) - edited + 1)
	if err := d.edits.apply(s.Root, from, from+edited, op+" by "+s.Kind, n); err != nil {
		return err
	}
	changed, err := s.do(request{Op: opTrack, InRow: true})
	if err != nil || round < 0 {
		return err
	}
	if changed.Tree == unchanged.Tree {
		return fmt.Errorf("%s found no change", s.Kind)
	}
	changed.Seconds -= unchanged.Seconds
	changed.Used.CPUSeconds -= unchanged.Used.CPUSeconds
	d.record(s, op, round, changed)
	return nil
}

var floorsOfChange = map[string]string{opAboveOne: floorKeepOne, opAboveMany: floorKeepMany}

// changeFloor times what whoever keeps the changed files for good cannot do without.
func (d *driver) changeFloor(op string, edited int) func(round int) error {
	return func(round int) error {
		for i := range pairs {
			from := ((round+1)*pairs + i) % (len(d.edits.paths) - edited + 1)
			var files []string
			for n := from; n < from+edited; n++ {
				files = append(files, d.edits.file(d.tree(), n))
			}
			measure := d.floor(floorsOfChange[op], func() (float64, error) { return timeKeep(d.scratch, files) })
			if err := measure(round); err != nil {
				return err
			}
		}
		return nil
	}
}

// timeKeep times reading, hashing and compressing files on all processors, and writing
// what comes of it over a file that is on the disk already, with one wait for the disk.
func timeKeep(dir string, files []string) (seconds float64, err error) {
	f, err := os.CreateTemp(dir, "keep")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close(), os.Remove(f.Name())) }()
	if _, err := f.Write(make([]byte, len(files)*maxEditable)); err != nil {
		return 0, err
	}
	if err := f.Sync(); err != nil {
		return 0, err
	}
	begin := time.Now()
	kept, err := compressAll(files)
	if err == nil {
		_, err = f.WriteAt(bytes.Join(kept, nil), 0)
	}
	if err == nil {
		err = flushData(f)
	}
	return time.Since(begin).Seconds(), err
}

// compressAll reads, hashes and compresses files on all processors.
func compressAll(files []string) ([][]byte, error) {
	var wg sync.WaitGroup
	workers := min(runtime.GOMAXPROCS(0), len(files))
	kept, errs := make([][]byte, len(files)), make([]error, workers)
	for w := range workers {
		wg.Go(func() {
			z, err := fastzlib.NewWriterLevel(io.Discard, 1)
			for i := w; i < len(files) && err == nil; i += workers {
				kept[i], err = compressFile(z, files[i])
			}
			errs[w] = err
		})
	}
	wg.Wait()
	return kept, errors.Join(errs...)
}

func compressFile(z *fastzlib.Writer, file string) ([]byte, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	sum := sha1.Sum(text)
	out := bytes.NewBuffer(sum[:])
	z.Reset(out)
	if _, err := z.Write(text); err != nil {
		return nil, err
	}
	err = z.Close()
	return out.Bytes(), err
}
