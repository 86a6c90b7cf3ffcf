package best

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
)

// Variables of a command that tell it which of the forks it runs in.
const (
	NumberVariable = "CAIRN_BEST"    // from 1
	CountVariable  = "CAIRN_BEST_OF" // how many there are
)

// Options controls a run.
type Options struct {
	Count   int      // forks
	Jobs    int      // commands at a time
	Command []string // program and arguments
	Test    []string // runs after the command; nil = none
	Below   string   // absolute path of the directory for the forks; "" = that of the root

	// WithIgnored and Ignored are those of cairn.CheckoutOptions.
	WithIgnored bool
	Ignored     []string

	// GitWorktree makes the forks linked work trees of the git repository, each on a branch of its own.
	GitWorktree bool

	NoSession bool     // the command keeps checkpoints itself
	Environ   []string // of each command, beside the variables above

	// Open opens the repository of a fork. Calls may be concurrent, and so may those of Say, which gets
	// a line about the progress, and of Warn, which gets a line about a fault that stops nothing.
	Open      func(root string) (*cairn.Repo, error)
	Say, Warn func(text string)
}

// Result lists the forks, the best first.
type Result struct {
	Root    cairn.Path `json:"root" doc:"Of which the directories are forks."`
	Command []string   `json:"command"`
	Forks   []Attempt  `json:"forks" doc:"The best first."`
}

// Attempt is the command in one fork.
type Attempt struct {
	Number     int        `json:"number" doc:"Of the fork, from 1."`
	Root       cairn.Path `json:"root" doc:"Directory of the fork."`
	Log        cairn.Path `json:"log,omitempty" doc:"File with the output of the command and the test."`
	Session    string     `json:"sessionID,omitempty" doc:"With the work of the command."`
	Base       string     `json:"base" doc:"The checkpoint that the fork began with."`
	Checkpoint string     `json:"checkpoint,omitempty" doc:"After the command."`
	Status     int        `json:"status" doc:"Exit status of the command."`

	Test *cairn.TestResult `json:"test,omitempty" doc:"How the test ended."`
	Note string            `json:"note,omitempty" doc:"Why the result of the test is not noted."`

	Files     int    `json:"files" doc:"Changed paths."`
	Additions int    `json:"additions"`
	Deletions int    `json:"deletions"`
	Error     string `json:"error,omitempty" doc:"Why there is no result."`
}

// Good reports whether the command ended with 0 and the test, if there was one, passed.
func (a *Attempt) Good() bool {
	return a.Error == "" && a.Status == 0 && (a.Test == nil || a.Test.Passed())
}

// run is one run.
type run struct {
	opt      *Options
	attempts []Attempt
}

// Run forks the root Count times, runs the command in each fork, and ranks the results. A fork that
// cannot be made ends the run before any command starts, and the error names those that are there. A
// place that is taken is cairn.ErrPlace, and nothing was made then. When the context ends, all commands
// end, and the forks stay.
func Run(ctx context.Context, repo *cairn.Repo, opt *Options) (*Result, error) {
	r := &run{opt: opt}
	if err := r.fork(ctx, repo); err != nil {
		return nil, err
	}
	next := make(chan *Attempt)
	var workers sync.WaitGroup
	for range min(opt.Jobs, opt.Count) {
		workers.Go(func() {
			for a := range next {
				r.attempt(ctx, a)
			}
		})
	}
	for i := range r.attempts {
		next <- &r.attempts[i]
	}
	close(next)
	workers.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	rank(r.attempts)
	return &Result{Root: cairn.Path(repo.Root()), Command: opt.Command, Forks: r.attempts}, nil
}

// places returns the directories of the forks, none of which may be there with anything in it.
func (r *run) places(root string) ([]string, error) {
	below := r.opt.Below
	if below == "" {
		below = filepath.Dir(root)
	}
	places := make([]string, r.opt.Count)
	for i := range places {
		places[i] = filepath.Join(below, filepath.Base(root)+"-"+strconv.Itoa(i+1))
		entries, err := os.ReadDir(places[i])
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil || len(entries) > 0 {
			return nil, fmt.Errorf("%w: %s: is there, and is no empty directory; name another directory for the forks with --dir, or remove it with cairn fork --remove",
				cairn.ErrPlace, pathtext.Place(places[i]))
		}
	}
	return places, nil
}

// fork makes the forks.
func (r *run) fork(ctx context.Context, repo *cairn.Repo) error {
	places, err := r.places(repo.Root())
	if err != nil {
		return err
	}
	var first string
	for i, dir := range places {
		var opt cairn.ForkOptions
		opt.WithIgnored, opt.Ignored = r.opt.WithIgnored, r.opt.Ignored
		opt.GitWorktree, opt.Env = r.opt.GitWorktree, r.opt.Environ
		made, err := repo.Fork(ctx, dir, opt)
		if err != nil {
			return fmt.Errorf("fork %d of %d: %w; no command was started%s", i+1, len(places), err, r.thereAre())
		}
		for _, c := range made.Conflicts {
			r.opt.Warn(fmt.Sprintf("%s is not in %s: %s", c.Path.Quoted(), pathtext.Place(dir), c.Reason))
		}
		if i == 0 {
			first = made.Hash
		}
		if made.Hash != first {
			r.opt.Warn(fmt.Sprintf("the directory has changed: %s begins with a later state than %s", pathtext.Place(dir), r.attempts[0].Root.Place()))
		}
		r.attempts = append(r.attempts, Attempt{Number: i + 1, Root: made.Dir, Base: made.Checkpoint})
		r.opt.Say(fmt.Sprintf("%s: fork %d of %d", made.Dir.Place(), i+1, len(places)))
	}
	return nil
}

// thereAre names the forks that were made, for an error.
func (r *run) thereAre() string {
	if len(r.attempts) == 0 {
		return ""
	}
	names := make([]string, len(r.attempts))
	for i := range r.attempts {
		names[i] = r.attempts[i].Root.Place()
	}
	return "; cairn fork --remove DIR removes the forks that are there: " + strings.Join(names, ", ")
}
