package main

import (
	"bytes"
	"crypto/sha1"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	fastzlib "github.com/klauspost/compress/zlib"

	"github.com/seed-fb9cbc17/cairn/bench/internal/names"
	"github.com/seed-fb9cbc17/cairn/bench/internal/peers"
	"github.com/seed-fb9cbc17/cairn/bench/internal/system"
	"github.com/seed-fb9cbc17/cairn/bench/internal/trees"
	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
)

// What a change adds to a track is less than one track differs from the next. So it is
// taken in pairs: a track of an unchanged tree, and at once the one after the change.

// pairs is how many of them a round has: they are cheap, and each alone says little.
const pairs = 4

// settling is how long a file may be read again after it was written, since its times do
// not show yet whether it was written once more.
const settling = 150 * time.Millisecond

func (d *driver) aboveOne() error { return d.above(names.OpAboveOne, 1) }

func (d *driver) aboveMany() error { return d.above(names.OpAboveMany, len(d.edits.Paths)) }

// above times pairs, each with as many edited files.
func (d *driver) above(op string, edited int) error {
	err := d.rounds(op, light, func(s *peers.Remote, round int) error {
		return d.eachPair(round, edited, func(n, from, to int) error { return d.pair(s, op, round, n, from, to) })
	}, func(round int) error {
		return d.eachPair(round, edited, func(_, from, to int) error { return d.keepFloor(op, round, from, to) })
	})
	for _, s := range d.subjects {
		if s.Can(op) {
			err = errors.Join(err, d.edits.Undo(s.Root))
		}
	}
	return err
}

// eachPair numbers the pairs of a round and says which files, from and to, each edits.
func (d *driver) eachPair(round, edited int, f func(n, from, to int) error) error {
	for i := range pairs {
		n := (round+1)*pairs + i
		from := n % (len(d.edits.Paths) - edited + 1)
		if err := f(n, from, from+edited); err != nil {
			return err
		}
	}
	return nil
}

// pair records by how much the second track takes longer. Contenders share a tree: each
// makes edits of its own.
func (d *driver) pair(s *peers.Remote, op string, round, n, from, to int) error {
	time.Sleep(settling)
	if _, err := s.Track(); err != nil {
		return err
	}
	unchanged, err := s.Do(peers.Request{Op: peers.OpTrack, InRow: true})
	if err != nil {
		return err
	}
	if err := d.edits.Apply(s.Root, from, to, op+" by "+s.Kind, n); err != nil {
		return err
	}
	changed, err := s.Do(peers.Request{Op: peers.OpTrack, InRow: true})
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

// keepFloor times the work that a contender which keeps the changed files for good cannot avoid.
func (d *driver) keepFloor(op string, round, from, to int) error {
	var files []string
	for i := from; i < to; i++ {
		files = append(files, d.edits.File(d.tree(), i))
	}
	return d.floor(names.FloorsOfChange[op], func() (float64, error) { return timeKeep(d.scratch, files) })(round)
}

// timeKeep times reading, hashing and compressing files on all processors, and writing
// what comes of it over a file that is on the disk already, with one wait for the disk.
func timeKeep(dir string, files []string) (seconds float64, err error) {
	f, err := os.CreateTemp(dir, "keep")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close(), os.Remove(f.Name())) }()
	if _, err := f.Write(make([]byte, len(files)*trees.MaxEditable)); err != nil {
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
		err = atomicfile.SyncData(f)
	}
	return time.Since(begin).Seconds(), err
}

// compressAll reads, hashes and compresses files on all processors.
func compressAll(files []string) ([][]byte, error) {
	kept := make([][]byte, len(files))
	var writers sync.Pool
	err := system.InParallel(len(files), func(i int) (err error) {
		z, ok := writers.Get().(*fastzlib.Writer)
		if !ok {
			if z, err = fastzlib.NewWriterLevel(io.Discard, 1); err != nil {
				return err
			}
		}
		defer writers.Put(z)
		kept[i], err = compressFile(z, files[i])
		return err
	})
	return kept, err
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
