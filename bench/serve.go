package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed-fb9cbc17/cairn/bench/internal/report"
	"github.com/seed-fb9cbc17/cairn/bench/internal/system"
	"github.com/seed-fb9cbc17/cairn/bench/internal/trees"
)

// load is what -serve puts on one server: sessions that work at once, each in one of
// several projects, as agents do: a step begins, one file changes, the step ends, and
// then the agent thinks.
type load struct {
	Sessions int           `json:"sessions"`
	Projects int           `json:"projects"`
	Files    int           `json:"files"` // in each project
	Lasts    time.Duration `json:"nanoseconds"`
	Pace     time.Duration `json:"paceNanoseconds"` // of one session: from step to step, on average
}

// loadReport is the outcome. Times are milliseconds, sizes bytes.
type loadReport struct {
	Time    time.Time      `json:"time"`
	Machine system.Machine `json:"machine"`
	Load    load           `json:"load"`
	Errors  []string       `json:"errors"` // the first ones
	Failed  int            `json:"failed"`
	Begin   latency        `json:"begin"`
	End     latency        `json:"end"`
	Memory  []int64        `json:"memory"` // resident, once a second
	Load1   float64        `json:"loadAfter"`

	// CPUSeconds is what the server has used in all, first tracks included.
	CPUSeconds float64 `json:"cpuSeconds"`
}

// latency are the times that one kind of request took.
type latency struct {
	Count         int     `json:"count"`
	P50, P99, Max float64 // milliseconds
}

func newLatency(times []time.Duration) latency {
	if len(times) == 0 {
		return latency{}
	}
	slices.Sort(times)
	at := func(q float64) float64 {
		return float64(times[int(q*float64(len(times)-1))].Microseconds()) / 1e3
	}
	return latency{len(times), at(0.5), at(0.99), at(1)}
}

// served is a server under load.
type served struct {
	load
	dir    string
	client *http.Client
	roots  []string

	mu         sync.Mutex
	begin, end []time.Duration
	failed     int
	errors     []string
}

// serveBench fills the projects, starts a server and works on it for a while.
func serveBench(ctx context.Context, opt options, out, diagnostics io.Writer) (err error) {
	progress := &system.Progress{W: diagnostics, Quiet: opt.quiet}
	dir, err := os.MkdirTemp("", "cairn-load") // a short path: a socket lies in it
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	s := &served{dir: dir, load: load{Sessions: opt.sessions, Projects: opt.projects, Files: opt.files, Lasts: opt.lasts, Pace: opt.pace}}
	told := loadReport{Time: time.Now().UTC().Truncate(time.Second), Load: s.load}
	if git, err := exec.LookPath("git"); err == nil {
		told.Machine = system.DescribeMachine(dir, git)
	}
	for i := range s.Projects {
		progress.Say("project %d of %d", i+1, s.Projects)
		s.roots = append(s.roots, filepath.Join(dir, fmt.Sprintf("project%d", i)))
		if err := trees.NewSynthetic(s.Files, opt.dirs).Fill(s.roots[i]); err != nil {
			return err
		}
	}
	server, err := s.start(opt.cairn)
	if err != nil {
		return err
	}
	if err := s.firstTracks(ctx); err != nil {
		return errors.Join(err, s.stop(server))
	}
	progress.Say("%d sessions for %v", s.Sessions, s.Lasts)
	told.Memory = s.work(ctx, server.Process.Pid)
	if err := s.stop(server); err != nil {
		return err
	}
	told.CPUSeconds = (server.ProcessState.UserTime() + server.ProcessState.SystemTime()).Seconds()
	told.Begin, told.End = newLatency(s.begin), newLatency(s.end)
	told.Failed, told.Errors, told.Load1 = s.failed, s.errors, system.LoadAverage()
	told.print(out)
	return report.SaveTo(opt.json, func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetIndent("", " ")
		return enc.Encode(told)
	})
}

// start builds the program, unless one is given, and waits for its socket.
func (s *served) start(program string) (*exec.Cmd, error) {
	if program == "" {
		program = filepath.Join(s.dir, "cairn"+exeSuffix)
		if err := buildCairn(program); err != nil {
			return nil, err
		}
	}
	cmd := exec.Command(program, append([]string{"--data-dir", filepath.Join(s.dir, "d"), "--json", "serve"}, s.roots...)...)
	cmd.Env = system.CleanEnv(s.dir)
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(stdout).ReadBytes('\n')
	var way struct{ Socket string }
	if err == nil {
		err = json.Unmarshal(line, &way)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("the server does not say where it is: %w", err), cmd.Wait())
	}
	s.client = &http.Client{Transport: &http.Transport{
		MaxIdleConnsPerHost: s.Sessions,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", way.Socket)
		},
	}}
	return cmd, nil
}

func (s *served) stop(server *exec.Cmd) error {
	s.client.CloseIdleConnections()
	if err := server.Process.Signal(os.Interrupt); err != nil {
		return err
	}
	return server.Wait()
}

func (s *served) firstTracks(ctx context.Context) error {
	for _, root := range s.roots {
		if _, err := s.post(ctx, root, "/track", struct{}{}); err != nil {
			return err
		}
	}
	return nil
}

// post makes one request and returns how long it took.
func (s *served) post(ctx context.Context, root, path string, body any) (time.Duration, error) {
	data, err := json.Marshal(body)
	if err != nil {
		return 0, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://cairn"+path+"?directory="+url.QueryEscape(root), bytes.NewReader(data))
	if err != nil {
		return 0, err
	}
	r.Header.Set("Content-Type", "application/json")
	begun := time.Now()
	answer, err := s.client.Do(r)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	took := time.Since(begun)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s: %s", path, answer.Status, text)
	}
	return took, err
}

// work lets all sessions run and watches the server's memory.
func (s *served) work(ctx context.Context, pid int) (memory []int64) {
	ctx, cancel := context.WithTimeout(ctx, s.Lasts)
	defer cancel()
	var all sync.WaitGroup
	for i := range s.Sessions {
		all.Go(func() { s.session(ctx, i) })
	}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			all.Wait()
			return memory
		case <-tick.C:
			memory = append(memory, system.ResidentBytes(pid))
		}
	}
}

// session is one agent. Its file is its own, so that nothing is shared but the store.
func (s *served) session(ctx context.Context, i int) {
	root := s.roots[i%s.Projects]
	id := fmt.Sprintf("session-%d", i)
	file := filepath.Join(root, fmt.Sprintf("work-%d.txt", i))
	rnd := rand.New(rand.NewPCG(1, uint64(i)))
	for n := 0; ; n++ {
		pause := time.Duration((0.5 + rnd.Float64()) * float64(s.Pace)) // so that they do not march in step
		if n == 0 {
			pause = time.Duration(rnd.Float64() * float64(s.Pace))
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		// A step that has begun is ended, also after the time is up.
		s.step(context.WithoutCancel(ctx), root, id, file, n)
	}
}

func (s *served) step(ctx context.Context, root, id, file string, n int) {
	step := fmt.Sprintf("step-%d", n)
	begin, err := s.post(ctx, root, "/session/"+id+"/steps", map[string]any{"messageID": fmt.Sprintf("message-%d", n/5), "role": "user", "stepID": step})
	if err == nil {
		err = os.WriteFile(file, []byte(strings.Repeat(step+"\n", 20)), 0o644)
	}
	var end time.Duration
	if err == nil {
		end, err = s.post(ctx, root, "/session/"+id+"/steps/"+step+"/end", struct{}{})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.failed++
		if len(s.errors) < 10 {
			s.errors = append(s.errors, err.Error())
		}
		return
	}
	s.begin, s.end = append(s.begin, begin), append(s.end, end)
}

func (r *loadReport) print(w io.Writer) {
	l := r.Load
	fmt.Fprintf(w, "%s\n\n%d sessions in %d projects of %d files on one server for %v, a step each %v\n\n",
		r.Machine, l.Sessions, l.Projects, l.Files, l.Lasts, l.Pace)
	row := func(name string, t latency) {
		fmt.Fprintf(w, "%-11s %6d requests   p50 %7.1f ms   p99 %7.1f ms   max %7.1f ms\n", name, t.Count, t.P50, t.P99, t.Max)
	}
	row("step begin", r.Begin)
	row("step end", r.End)
	fmt.Fprintf(w, "%-11s %6d\n", "errors", r.Failed)
	for _, e := range r.Errors {
		fmt.Fprintf(w, "    %s\n", e)
	}
	if n := len(r.Memory); n > 0 {
		fmt.Fprintf(w, "%-11s %6.1f MiB at first, %.1f after half of the time, %.1f at the end, %.1f at most\n", "memory",
			mib(r.Memory[0]), mib(r.Memory[n/2]), mib(r.Memory[n-1]), mib(slices.Max(r.Memory)))
	}
	fmt.Fprintf(w, "%-11s %6.1f s of processors, first tracks included\n", "server", r.CPUSeconds)
	fmt.Fprintf(w, "%-11s %6.1f before, %.1f after\n", "load", r.Machine.Load, r.Load1)
}

func mib(bytes int64) float64 { return float64(bytes) / (1 << 20) }
