package peers

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

	"github.com/seed-fb9cbc17/cairn/bench/internal/system"
)

// Every contender lives in a process of its own, the worker, which is this program
// started with the word "worker". So the memory of one is not the memory of
// another, the peak of a child is not that of the driver that started it, and the
// library meets a heap of its own. Driver and worker speak JSON over pipes.

// WorkerWord is the argument that makes this program a worker.
const WorkerWord = "worker"

// Request is one operation.
type Request struct {
	Op         string   `json:"op"`
	Tree       string   `json:"tree,omitempty"`
	To         string   `json:"to,omitempty"`
	Files      []string `json:"files,omitempty"`
	Store      string   `json:"store,omitempty"`      // of another contender, to adopt
	Borrow     bool     `json:"borrow,omitempty"`     // OpBorrow: on or off
	Processors int      `json:"processors,omitempty"` // OpProcessors: at most
	Times      int      `json:"times,omitempty"`      // carry it out more than once
	InRow      bool     `json:"inRow,omitempty"`      // right after the one before: what that left is not collected first
	Profile    string   `json:"profile,omitempty"`
}

// What a request may ask for.
const (
	OpReset        = "reset"
	OpAdopt        = "adopt"
	OpBorrow       = "borrow"
	OpTrack        = "track"
	OpTrackOnly    = "track-only"
	OpPatch        = "patch"
	OpDiffFull     = "diff-full"
	OpRestore      = "restore"
	OpRevert       = "revert"
	OpUndo         = "undo"
	OpRedo         = "redo"
	OpLog          = "log"
	OpClean        = "clean"
	OpTurnBegin    = "turn-begin"
	OpTurnEnd      = "turn-end"
	OpRevertRange  = "revert-range"
	OpRevertTurn   = "revert-turn"
	OpUnrevert     = "unrevert"
	OpClose        = "close" // the next operation opens again
	OpProcessors   = "processors"
	OpMemory       = "memory"
	OpProfile      = "profile"
	OpProfileEnded = "profile-ended"
)

// Response is what came of a request, with its time.
type Response struct {
	Seconds  float64      `json:"seconds"` // the median where there are more
	All      []float64    `json:"all,omitempty"`
	Used     system.Usage `json:"used"`
	Tree     string       `json:"tree,omitempty"`
	Files    []string     `json:"files,omitempty"`
	Count    int          `json:"count,omitempty"`
	Heap     int64        `json:"heap,omitempty"`
	Resident int64        `json:"resident,omitempty"`
	Error    string       `json:"error,omitempty"`
}

// Work serves requests until the input ends.
func Work(in io.Reader, out io.Writer) error {
	dec, enc := json.NewDecoder(in), json.NewEncoder(out)
	var s Setting
	if err := dec.Decode(&s); err != nil {
		return fmt.Errorf("worker: read the setting: %w", err)
	}
	c, err := NewContender(s)
	if err != nil {
		return err
	}
	for {
		var req Request
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
func carryOut(c Contender, req Request) (resp Response) {
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
	resp.Seconds, _ = system.Median(resp.All)
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

func perform(c Contender, req *Request, resp *Response) (count func() (int, error), err error) {
	err = errUnable
	switch req.Op {
	case OpReset:
		err = c.Reset()
	case OpTrack:
		resp.Tree, err = c.Track()
	case OpTrackOnly:
		if c, ok := c.(pathTracker); ok {
			err = c.TrackOnly(req.Files)
		}
	case OpPatch:
		if c, ok := c.(patcher); ok {
			resp.Files, err = c.Patch(req.Tree)
		}
	case OpDiffFull:
		if c, ok := c.(differ); ok {
			count, err = c.DiffFull(req.Tree, req.To)
		}
	case OpRestore:
		if c, ok := c.(restorer); ok {
			err = c.Restore(req.Tree)
		}
	case OpRevert:
		if c, ok := c.(reverter); ok {
			err = c.Revert(req.Tree, req.Files)
		}
	case OpUndo, OpRedo:
		if c, ok := c.(undoer); ok && req.Op == OpUndo {
			err = c.Undo()
		} else if ok {
			err = c.Redo()
		}
	case OpLog, OpClean:
		err = keep(c, req.Op)
	case OpTurnBegin, OpTurnEnd, OpRevertRange, OpRevertTurn, OpUnrevert:
		err = turnOf(c, req, resp)
	default:
		err = arrange(c, req, resp)
	}
	return count, err
}

// arrange does what is asked between measurements.
func arrange(c Contender, req *Request, resp *Response) error {
	switch req.Op {
	case OpAdopt:
		if c, ok := c.(lendable); ok {
			return c.Adopt(req.Store)
		}
	case OpClose:
		if c, ok := c.(io.Closer); ok {
			return c.Close()
		}
	case OpBorrow:
		if c, ok := c.(borrowing); ok {
			c.Borrow(req.Borrow)
		}
		return nil
	case OpProcessors:
		if c, ok := c.(scalable); ok {
			return c.Processors(req.Processors)
		}
	case OpMemory:
		resp.Heap, resp.Resident = ownMemory()
		return nil
	case OpProfile:
		return beginProfile(req.Profile)
	case OpProfileEnded:
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
	return int64(m.HeapAlloc), system.ResidentBytes(os.Getpid())
}

// beginProfile profiles until OpProfileEnded. The file stays open until the worker ends.
func beginProfile(file string) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	return pprof.StartCPUProfile(f)
}

// Remote is the driver's end of a worker.
type Remote struct {
	Setting
	cmd *exec.Cmd
	in  io.WriteCloser
	enc *json.Encoder
	dec *json.Decoder
}

// StartWorker starts this program again as the worker of a contender.
func StartWorker(s Setting) (*Remote, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("start a worker: %w", err)
	}
	for _, dir := range []string{s.Home, filepath.Dir(s.Store)} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, fmt.Errorf("start a worker: %w", err)
		}
	}
	r := &Remote{Setting: s, cmd: exec.Command(self, WorkerWord)}
	r.cmd.Env, r.cmd.Stderr = system.CleanEnv(s.Home), os.Stderr
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
		return nil, errors.Join(fmt.Errorf("worker %s: %w", s.Kind, err), r.Close())
	}
	return r, nil
}

// Do has one operation carried out. An operation that fails is an error.
func (r *Remote) Do(req Request) (Response, error) {
	var resp Response
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

// Track takes a checkpoint and returns its tree.
func (r *Remote) Track() (string, error) {
	resp, err := r.Do(Request{Op: OpTrack})
	return resp.Tree, err
}

// Close ends the worker.
func (r *Remote) Close() error {
	return errors.Join(r.in.Close(), r.cmd.Wait())
}
