package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn/bench/internal/peers"
	"github.com/seed-fb9cbc17/cairn/bench/internal/report"
	"github.com/seed-fb9cbc17/cairn/bench/internal/system"
	"github.com/seed-fb9cbc17/cairn/bench/internal/trees"
)

// Goals for a call of a tool, in a tree of 80,000 files.
const (
	goalAlone  = 25.0 // milliseconds, p50, without a server
	goalServed = 8.0  // with one
	goalFirst  = 1.5  // first call of a session over an unchanged track
)

// agentsBench measures how long agents wait for cairn.
type agentsBench struct {
	dir, program, root string
	think              time.Duration // of the model, before each call of a tool
	samples            map[sampleKey][]agentSample
	calls              int
}

// way is how the program works: with a store of its own, alone or beside a server.
type way struct {
	name, dataDir string
}

type sampleKey struct {
	agent string
	moment
	way string
}

type agentSample struct{ wall, processor time.Duration }

// agentLatency measures turns of every agent without and with a server, in one run.
func agentLatency(ctx context.Context, opt options, out, diagnostics io.Writer) (err error) {
	progress := &system.Progress{W: diagnostics, Quiet: opt.quiet}
	dir, err := os.MkdirTemp("", "cairn-agents") // a short path: a socket lies in it
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	b := &agentsBench{
		dir: dir, program: opt.cairn, root: filepath.Join(dir, "tree"), think: opt.think,
		samples: make(map[sampleKey][]agentSample),
	}
	if b.program == "" {
		b.program = filepath.Join(dir, "cairn"+exeSuffix)
		if err := buildCairn(b.program); err != nil {
			return err
		}
	}
	progress.Say("a tree of %d files", opt.files)
	if err := b.fill(opt); err != nil {
		return err
	}
	ways := []way{{"alone", filepath.Join(dir, "a")}, {"served", filepath.Join(dir, "s")}}
	for _, w := range ways {
		progress.Say("first track, %s", w.name)
		if _, err := b.track(ctx, w); err != nil {
			return err
		}
	}
	server, err := peers.StartServer(b.program, ways[1].dataDir, system.CleanEnv(b.dir), b.root)
	if err != nil {
		return err
	}
	begun := time.Now()
	for n := range opt.rounds {
		progress.Say("round %d of %d", n+1, opt.rounds)
		if err = b.round(ctx, n, ways); err != nil {
			break
		}
	}
	err = errors.Join(err, server.Stop())
	if err != nil {
		return err
	}
	return b.report(opt, time.Since(begun), server.Cmd).finish(out, opt.json)
}

// fill makes the tree, with -repository a committed one.
func (b *agentsBench) fill(opt options) error {
	tree := trees.NewSynthetic(opt.files, opt.dirs)
	tree.Shrink = opt.shrink
	var c trees.Corpus = tree
	if opt.repository {
		git, err := exec.LookPath("git")
		if err != nil {
			return err
		}
		c = &trees.Committed{Corpus: c, Git: git, Home: filepath.Join(b.dir, "home")}
	}
	return errors.Join(os.MkdirAll(b.root, 0o755), c.Fill(b.root))
}

// round is one session of every agent, each way, and an unchanged track before each.
func (b *agentsBench) round(ctx context.Context, n int, ways []way) error {
	for i, agent := range agentKinds {
		order := slices.Clone(ways)
		if (n+i)%2 == 1 { // the way that comes second finds the caches of the system warmer
			slices.Reverse(order)
		}
		for _, w := range order {
			taken, err := b.track(ctx, w)
			if err != nil {
				return err
			}
			b.keep("", momentSession, w, taken)
			if err := b.floors(ctx, w); err != nil {
				return err
			}
			if err := b.session(ctx, agent, w, n); err != nil {
				return fmt.Errorf("%s, %s: %w", agent.name, w.name, err)
			}
		}
	}
	return nil
}

// Floors of a call: nothing that looks at every file can do with less than a bare walk, and no call
// with less than the start of the program.
const (
	barestWalk  moment = "walk"
	barestStart moment = "start"
)

func (b *agentsBench) floors(ctx context.Context, w way) error {
	begun, used := time.Now(), system.OwnUsage()
	if _, err := system.WalkTree(b.root, nil); err != nil {
		return fmt.Errorf("walk %s: %w", b.root, err)
	}
	seconds := system.OwnUsage().CPUSeconds - used.CPUSeconds
	b.keep("", barestWalk, way{}, agentSample{time.Since(begun), time.Duration(seconds * float64(time.Second))})
	started, _, err := b.run(ctx, w, agentCall{args: []string{"version"}})
	b.keep("", barestStart, way{}, started)
	return err
}

const turnsOfSession, toolsOfTurn = 2, 3

// session is a session of some turns. Each call of a tool writes a file.
func (b *agentsBench) session(ctx context.Context, agent agentKind, w way, n int) error {
	at := place{root: b.root, session: fmt.Sprintf("%s-%s-%d", agent.name, w.name, n)}
	if err := b.take(ctx, agent, w, at, momentSession); err != nil {
		return err
	}
	for turn := range turnsOfSession {
		at.turn = fmt.Sprintf("%s-turn-%d", at.session, turn)
		at.file = filepath.Join(b.root, fmt.Sprintf("%s-%d.txt", agent.name, turn))
		if err := b.take(ctx, agent, w, at, momentPrompt); err != nil {
			return err
		}
		for tool := range toolsOfTurn {
			at.call = fmt.Sprintf("%s-call-%d", at.turn, tool)
			if err := b.tool(ctx, agent, w, at, turn == 0 && tool == 0); err != nil {
				return err
			}
		}
		time.Sleep(b.think) // the model sums up
		if err := b.take(ctx, agent, w, at, momentStop); err != nil {
			return err
		}
	}
	return nil
}

func (b *agentsBench) tool(ctx context.Context, agent agentKind, w way, at place, first bool) error {
	before := momentBefore
	if first {
		before = momentFirst
	}
	time.Sleep(b.think)
	if err := b.take(ctx, agent, w, at, before); err != nil {
		return err
	}
	if err := os.WriteFile(at.file, []byte(strings.Repeat(at.call+"\n", 20)), 0o644); err != nil {
		return err
	}
	return b.take(ctx, agent, w, at, momentAfter)
}

// take makes the calls of a moment and keeps how long they took together.
func (b *agentsBench) take(ctx context.Context, agent agentKind, w way, at place, m moment) error {
	var sum agentSample
	for _, call := range agent.calls(at, m) {
		s, text, err := b.run(ctx, w, call)
		if err != nil {
			return fmt.Errorf("%s: %w", m, err)
		}
		if strings.Contains(text, `"ok":false`) {
			return fmt.Errorf("%s: %s", m, text)
		}
		sum.wall, sum.processor = sum.wall+s.wall, sum.processor+s.processor
	}
	if sum.wall > 0 { // else the agent tells nothing of this moment
		b.keep(agent.name, m, w, sum)
	}
	return nil
}

func (b *agentsBench) keep(agent string, m moment, w way, s agentSample) {
	key := sampleKey{agent, m, w.name}
	b.samples[key] = append(b.samples[key], s)
}

func (b *agentsBench) track(ctx context.Context, w way) (agentSample, error) {
	s, _, err := b.run(ctx, w, agentCall{args: []string{"track"}})
	return s, err
}

// run starts the program as an agent does.
func (b *agentsBench) run(ctx context.Context, w way, call agentCall) (s agentSample, text string, err error) {
	cmd := exec.CommandContext(ctx, b.program, append([]string{"-C", b.root, "--data-dir", w.dataDir}, call.args...)...)
	cmd.Env, cmd.Stdin = system.CleanEnv(b.dir), strings.NewReader(call.stdin)
	begun := time.Now()
	out, err := cmd.Output()
	s.wall = time.Since(begun)
	if err != nil {
		return s, "", fmt.Errorf("%s: %w", system.CommandText(cmd.Args), err)
	}
	s.processor = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	b.calls++
	return s, string(out), b.failures(w)
}

// failures returns what the hooks have logged: they never fail themselves.
func (b *agentsBench) failures(w way) error {
	text, err := os.ReadFile(filepath.Join(w.dataDir, "hooks", "hooks.log"))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return errors.Join(err, fmt.Errorf("a hook failed: %s", text))
}

// agentsReport is the outcome.
type agentsReport struct {
	Time    time.Time      `json:"time"`
	Machine system.Machine `json:"machine"`
	Files   int            `json:"files"`
	Rounds  int            `json:"rounds"`
	Took    float64        `json:"tookSeconds"`
	Track   []agentTrack   `json:"track"`

	Walk  spreadOfCalls `json:"walk"`  // a bare walk that looks at every file, on all processors
	Start spreadOfCalls `json:"start"` // cairn version

	Rows  []agentRow `json:"rows"`
	Load1 float64    `json:"loadAfter"`

	// ServerCPU is the processor time of the server, in milliseconds for each call of an agent.
	ServerCPU float64 `json:"serverMillisecondsPerCall"`
}

// agentTrack is an unchanged track, as a measure.
type agentTrack struct {
	Way string `json:"way"`
	spreadOfCalls
}

// agentRow is one moment of an agent.
type agentRow struct {
	Agent  string `json:"agent"`
	Moment moment `json:"moment"`
	Way    string `json:"way"`
	spreadOfCalls
}

// spreadOfCalls are times in milliseconds.
type spreadOfCalls struct {
	Count     int     `json:"count"`
	Min       float64 `json:"min"`
	P50       float64 `json:"p50"`
	P95       float64 `json:"p95"`
	Processor float64 `json:"processor"` // p50
}

func (b *agentsBench) report(opt options, took time.Duration, server *exec.Cmd) *agentsReport {
	r := &agentsReport{
		Time: time.Now().UTC().Truncate(time.Second), Files: opt.files, Rounds: opt.rounds,
		Took: took.Seconds(), Load1: system.LoadAverage(),
	}
	if git, err := exec.LookPath("git"); err == nil {
		r.Machine = system.DescribeMachine(b.dir, git)
	}
	cpu := server.ProcessState.UserTime() + server.ProcessState.SystemTime()
	r.ServerCPU = inMilliseconds(cpu) / float64(max(b.calls/2, 1))
	for _, w := range []string{"alone", "served"} {
		r.Track = append(r.Track, agentTrack{w, spreadOf(b.samples[sampleKey{"", momentSession, w}])})
	}
	r.Walk, r.Start = spreadOf(b.samples[sampleKey{moment: barestWalk}]), spreadOf(b.samples[sampleKey{moment: barestStart}])
	for _, agent := range agentKinds {
		for _, m := range moments {
			for _, w := range []string{"alone", "served"} {
				if taken := b.samples[sampleKey{agent.name, m, w}]; len(taken) > 0 {
					r.Rows = append(r.Rows, agentRow{agent.name, m, w, spreadOf(taken)})
				}
			}
		}
	}
	return r
}

func inMilliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1e3 }

func (r *agentsReport) finish(out io.Writer, file string) error {
	r.print(out)
	return report.SaveTo(file, func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetIndent("", " ")
		return enc.Encode(r)
	})
}
