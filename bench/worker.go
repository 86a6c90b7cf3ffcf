package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"time"
)

// Every contender lives in a process of its own, the worker, which is this program
// started with the word "worker". So the memory of one is not the memory of
// another, the peak of a child is not that of the driver that started it, and the
// library meets a heap of its own. Driver and worker speak JSON over pipes.

// workerWord is the argument that makes this program a worker.
const workerWord = "worker"

// request is one operation.
type request struct {
	Op         string   `json:"op"`
	Tree       string   `json:"tree,omitempty"`
	To         string   `json:"to,omitempty"`
	Files      []string `json:"files,omitempty"`
	Store      string   `json:"store,omitempty"`      // of another contender, to adopt
	Borrow     bool     `json:"borrow,omitempty"`     // opBorrow: on or off
	Processors int      `json:"processors,omitempty"` // opProcessors: at most
	Times      int      `json:"times,omitempty"`      // carry it out more than once
	InRow      bool     `json:"inRow,omitempty"`      // right after the one before: what that left is not collected first
	Profile    string   `json:"profile,omitempty"`
}

// What a request may ask for.
const (
	opReset        = "reset"
	opAdopt        = "adopt"
	opBorrow       = "borrow"
	opTrack        = "track"
	opTrackOnly    = "track-only"
	opPatch        = "patch"
	opDiffFull     = "diff-full"
	opRestore      = "restore"
	opRevert       = "revert"
	opUndo         = "undo"
	opRedo         = "redo"
	opLog          = "log"
	opClean        = "clean"
	opTurnBegin    = "turn-begin"
	opTurnEnd      = "turn-end"
	opRevertRange  = "revert-range"
	opRevertTurn   = "revert-turn"
	opUnrevert     = "unrevert"
	opClose        = "close" // the next operation opens again
	opProcessors   = "processors"
	opMemory       = "memory"
	opProfile      = "profile"
	opProfileEnded = "profile-ended"
)

// response is what came of a request, with its time.
type response struct {
	Seconds  float64   `json:"seconds"` // the median where there are more
	All      []float64 `json:"all,omitempty"`
	Used     usage     `json:"used"`
	Tree     string    `json:"tree,omitempty"`
	Files    []string  `json:"files,omitempty"`
	Count    int       `json:"count,omitempty"`
	Heap     int64     `json:"heap,omitempty"`
	Resident int64     `json:"resident,omitempty"`
	Error    string    `json:"error,omitempty"`
}

// work serves requests until the input ends.
func work(in io.Reader, out io.Writer) error {
	dec, enc := json.NewDecoder(in), json.NewEncoder(out)
	var s setting
	if err := dec.Decode(&s); err != nil {
		return fmt.Errorf("worker: read the setting: %w", err)
	}
	c, err := newContender(s)
	if err != nil {
		return err
	}
	for {
		var req request
		if err := dec.Decode(&req); errors.Is(err, io.EOF) {
			if c, ok := c.(io.Closer); ok {
				return c.Close()
			}
			return nil
		} else if err != nil {
			return fmt.Errorf("worker: read a request: %w", err)
		}
		if err := enc.Encode(carryOut(c, req)); err != nil {
			return fmt.Errorf("worker: answer: %w", err)
		}
	}
}

// carryOut times one operation. Garbage of the one before is collected first.
func carryOut(c contender, req request) (resp response) {
	if !req.InRow {
		runtime.GC()
	}
	c.Used()
	var count func() (int, error)
	err := errUnable
	for range max(1, req.Times) {
		begin := time.Now()
		count, err = perform(c, &req, &resp)
		resp.All = append(resp.All, time.Since(begin).Seconds())
		if err != nil {
			break
		}
	}
	resp.Seconds, _ = median(resp.All)
	if req.Times == 0 {
		resp.All = nil
	}
	resp.Used = c.Used()
	if err == nil && count != nil {
		resp.Count, err = count()
	}
	if err != nil {
		resp.Error = err.Error()
	}
	return resp
}

// errUnable is a mistake in the list of a kind's operations.
var errUnable = errors.New("this contender cannot do that")

func perform(c contender, req *request, resp *response) (count func() (int, error), err error) {
	err = errUnable
	switch req.Op {
	case opReset:
		err = c.Reset()
	case opTrack:
		resp.Tree, err = c.Track()
	case opTrackOnly:
		if c, ok := c.(pathTracker); ok {
			err = c.TrackOnly(req.Files)
		}
	case opPatch:
		if c, ok := c.(patcher); ok {
			resp.Files, err = c.Patch(req.Tree)
		}
	case opDiffFull:
		if c, ok := c.(differ); ok {
			count, err = c.DiffFull(req.Tree, req.To)
		}
	case opRestore:
		if c, ok := c.(restorer); ok {
			err = c.Restore(req.Tree)
		}
	case opRevert:
		if c, ok := c.(reverter); ok {
			err = c.Revert(req.Tree, req.Files)
		}
	case opUndo, opRedo:
		if c, ok := c.(undoer); ok && req.Op == opUndo {
			err = c.Undo()
		} else if ok {
			err = c.Redo()
		}
	case opLog, opClean:
		err = keep(c, req.Op)
	case opTurnBegin, opTurnEnd, opRevertRange, opRevertTurn, opUnrevert:
		err = turnOf(c, req, resp)
	default:
		err = arrange(c, req, resp)
	}
	return count, err
}

// arrange does what is asked between measurements.
func arrange(c contender, req *request, resp *response) error {
	switch req.Op {
	case opAdopt:
		if c, ok := c.(lendable); ok {
			return c.Adopt(req.Store)
		}
	case opClose:
		if c, ok := c.(io.Closer); ok {
			return c.Close()
		}
	case opBorrow:
		if c, ok := c.(borrowing); ok {
			c.Borrow(req.Borrow)
		}
		return nil
	case opProcessors:
		if c, ok := c.(scalable); ok {
			return c.Processors(req.Processors)
		}
	case opMemory:
		resp.Heap, resp.Resident = ownMemory()
		return nil
	case opProfile:
		return beginProfile(req.Profile)
	case opProfileEnded:
		pprof.StopCPUProfile()
		return nil
	}
	return errUnable
}

// ownMemory is what this process has on its heap, and in memory, after all that it can
// do without was given back.
func ownMemory() (heap, resident int64) {
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc), residentBytes(os.Getpid())
}

// beginProfile profiles until opProfileEnded. The file stays open until the worker ends.
func beginProfile(file string) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	return pprof.StartCPUProfile(f)
}

// remote is the driver's end of a worker.
type remote struct {
	setting
	cmd *exec.Cmd
	in  io.WriteCloser
	enc *json.Encoder
	dec *json.Decoder
}

func startWorker(s setting) (*remote, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("start a worker: %w", err)
	}
	for _, dir := range []string{s.Home, filepath.Dir(s.Store)} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, fmt.Errorf("start a worker: %w", err)
		}
	}
	r := &remote{setting: s, cmd: exec.Command(self, workerWord)}
	r.cmd.Env, r.cmd.Stderr = cleanEnv(s.Home), os.Stderr
	if r.in, err = r.cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("start a worker: %w", err)
	}
	out, err := r.cmd.StdoutPipe()
	if err == nil {
		err = r.cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("start a worker: %w", err)
	}
	r.enc, r.dec = json.NewEncoder(r.in), json.NewDecoder(out)
	if err := r.enc.Encode(s); err != nil {
		return nil, errors.Join(fmt.Errorf("worker %s: %w", s.Kind, err), r.close())
	}
	return r, nil
}

// do has one operation carried out. An operation that fails is an error.
func (r *remote) do(req request) (response, error) {
	var resp response
	err := r.enc.Encode(req)
	if err == nil {
		err = r.dec.Decode(&resp)
	}
	if err == nil && resp.Error != "" {
		err = errors.New(resp.Error)
	}
	if err != nil {
		return resp, fmt.Errorf("%s: %s: %w", r.Kind, req.Op, err)
	}
	return resp, nil
}

func (r *remote) track() (string, error) {
	resp, err := r.do(request{Op: opTrack})
	return resp.Tree, err
}

func (r *remote) close() error {
	return errors.Join(r.in.Close(), r.cmd.Wait())
}
