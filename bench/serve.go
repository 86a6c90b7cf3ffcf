package main

import (
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

	"github.com/seed-fb9cbc17/cairn/bench/internal/peers"
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

	Worked int           `json:"worked"`                    // projects that the sessions share; the others are watched
	Rest   time.Duration `json:"restNanoseconds,omitempty"` // before the sessions, with nothing to do
}

// rest is a server that watches while nothing happens.
type rest struct {
	Seconds    float64 `json:"seconds"`
	CPUSeconds float64 `json:"cpuSeconds"`
	Memory     []int64 `json:"memory"` // resident, once a second
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
	Rest    *rest          `json:"rest,omitempty"`
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
	s := &served{dir: dir, load: load{Sessions: opt.sessions, Projects: opt.projects, Files: opt.files, Lasts: opt.lasts, Pace: opt.pace, Worked: opt.projects, Rest: opt.rest}}
	if opt.worked > 0 {
		s.Worked = min(opt.worked, s.Projects)
	}
	told := loadReport{Time: time.Now().UTC().Truncate(time.Second), Load: s.load}
	if git, err := exec.LookPath("git"); err == nil {
		told.Machine = system.DescribeMachine(dir, git)
	}
	if err := s.fill(opt, progress); err != nil {
		return err
	}
	server, err := s.start(opt.cairn)
	if err != nil {
		return err
	}
	if err := s.firstTracks(ctx); err != nil {
		return errors.Join(err, s.stop(server))
	}
	if s.Rest > 0 {
		progress.Say("nothing for %v", s.Rest)
		told.Rest = s.idle(ctx, server.Process.Pid)
	}
	progress.Say("%d sessions for %v", s.Sessions, s.Lasts)
	told.Memory = s.work(ctx, server.Process.Pid)
	if err := s.stop(server); err != nil {
		return err
	}
	told.CPUSeconds = (server.ProcessState.UserTime() + server.ProcessState.SystemTime()).Seconds()
	told.Begin, told.End = newLatency(s.begin), newLatency(s.end)
	told.Failed, told.Errors, told.Load1 = s.failed, s.errors, system.LoadAverage()
	if err := told.print(out); err != nil || opt.json == "" {
		return err
	}
	return errors.Join(
		report.SaveTo(opt.json, func(w io.Writer) error { return report.WriteJSON(w, told) }),
		report.SaveTo(strings.TrimSuffix(opt.json, ".json")+".md", func(w io.Writer) error { return told.print(w) }))
}

// fill makes the projects. Those in which no session works are hard links to the files of one of them.
// The others share no file, because a server looks at every file of a tree with many hard links.
func (s *served) fill(opt options, progress *system.Progress) error {
	tree := trees.NewSynthetic(s.Files, opt.dirs)
	tree.Shrink = opt.shrink
	for i := range s.Projects {
		progress.Say("project %d of %d", i+1, s.Projects)
		s.roots = append(s.roots, filepath.Join(s.dir, fmt.Sprintf("project%d", i)))
		var err error
		if i <= s.Worked {
			err = tree.Fill(s.roots[i])
		} else {
			err = trees.CopyTree(s.roots[s.Worked], s.roots[i], func(string) bool { return true })
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// start builds the program, unless one is given, and waits for its socket.
func (s *served) start(program string) (*peers.Server, error) {
	if program == "" {
		program = filepath.Join(s.dir, "cairn"+exeSuffix)
		if err := buildCairn(program); err != nil {
			return nil, err
		}
	}
	server, err := peers.StartServer(program, filepath.Join(s.dir, "d"), system.CleanEnv(s.dir), s.roots...)
	if err != nil {
		return nil, err
	}
	s.client = &http.Client{Transport: &http.Transport{
		MaxIdleConnsPerHost: s.Sessions,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", server.Socket)
		},
	}}
	return server, nil
}

func (s *served) stop(server *peers.Server) error {
	s.client.CloseIdleConnections()
	return server.Stop()
}

// idle watches the server while no session works. What the first tracks have left to do is done in
// the first sixth of the time, which does not count.
func (s *served) idle(ctx context.Context, pid int) *rest {
	settle, cancel := context.WithTimeout(ctx, s.Rest/6)
	watchMemory(settle, pid)
	cancel()
	ctx, cancel = context.WithTimeout(ctx, s.Rest)
	defer cancel()
	begun, used := time.Now(), system.CPUSeconds(pid)
	memory := watchMemory(ctx, pid)
	return &rest{Seconds: time.Since(begun).Seconds(), CPUSeconds: system.CPUSeconds(pid) - used, Memory: memory}
}

// watchMemory takes the memory of a process at once and then once a second.
func watchMemory(ctx context.Context, pid int) []int64 {
	memory := []int64{system.ResidentBytes(pid)}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return memory
		case <-tick.C:
			memory = append(memory, system.ResidentBytes(pid))
		}
	}
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
	memory = watchMemory(ctx, pid)
	all.Wait()
	return memory
}

// session is one agent. Its file is its own, so that nothing is shared but the store.
func (s *served) session(ctx context.Context, i int) {
	root := s.roots[i%s.Worked]
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

func (r *loadReport) print(w io.Writer) error {
	l := r.Load
	fmt.Fprintf(w, "# A server under load, %s\n\n%s\n\n", r.Time.Format("2006-01-02"), r.Machine)
	fmt.Fprintf(w, "%d sessions in %d projects of %d files for %v, a step each %v, on one server that watches %d such projects\n\n",
		l.Sessions, l.Worked, l.Files, l.Lasts, l.Pace, l.Projects)
	if err := r.table().Write(w); err != nil {
		return err
	}
	for _, e := range r.Errors {
		fmt.Fprintf(w, "\n- %s", e)
	}
	_, err := fmt.Fprintf(w, "\n%.1f s of processors, first tracks included; load %.1f before, %.1f after\n", r.CPUSeconds, r.Machine.Load, r.Load1)
	return err
}

// The goals of a server: milliseconds of the end of a step, and bytes.
const (
	goalEndP50, goalEndP99 = 5, 20
	goalMemory             = 300e6
)

func (r *loadReport) table() report.Table {
	t := report.Table{{"", "measured", "goal", "met"}}
	row := func(title, format string, value, goal float64) {
		cells := []string{title, fmt.Sprintf(format, value), "", ""}
		if goal >= 0 {
			cells[2], cells[3] = fmt.Sprintf(format, goal), map[bool]string{true: "yes", false: "no"}[value <= goal]
		}
		t = append(t, cells)
	}
	const none = -1
	if r.Rest != nil {
		row(fmt.Sprintf("memory at rest, %d projects", r.Load.Projects), "%.0f MB", megabyte(slices.Max(r.Rest.Memory)), goalMemory/1e6)
		row(fmt.Sprintf("processor time in %.0f s of rest", r.Rest.Seconds), "%.2f s", r.Rest.CPUSeconds, 0)
	}
	for _, k := range []struct {
		name          string
		times         latency
		p50, p99, max float64
	}{{"begin", r.Begin, none, none, none}, {"end", r.End, goalEndP50, goalEndP99, none}} {
		row(fmt.Sprintf("step %s, p50 of %d", k.name, k.times.Count), "%.1f ms", k.times.P50, k.p50)
		row("step "+k.name+", p99", "%.1f ms", k.times.P99, k.p99)
		row("step "+k.name+", longest", "%.1f ms", k.times.Max, k.max)
	}
	row("requests that failed", "%.0f", float64(r.Failed), 0)
	for i, when := range []string{"at first", "after half of the time", "at the end"} {
		if n := len(r.Memory); n > 0 {
			row("memory under load, "+when, "%.0f MB", megabyte(r.Memory[i*(n-1)/2]), none)
		}
	}
	return t
}

func megabyte(bytes int64) float64 { return float64(bytes) / 1e6 }
