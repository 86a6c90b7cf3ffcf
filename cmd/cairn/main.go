// Command cairn takes checkpoints of a directory and goes back to them without losing
// any work.
//
// It is a thin door over package cairn: here and in the packages below internal, and nowhere
// else, live the flags, the environment, the home directory and the terminal. internal/cli is
// what all commands share; each other package has the commands of one kind. The usage texts are
// constants, one beside each command; together they are the manual. The rules of the interface:
// the answer goes to stdout and everything else to stderr, lower case, without a
// final period and after "cairn: "; an error says what to do next; what went wrong
// in part is listed and told by the exit status.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"sync"
	"syscall"

	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/program"
	_ "github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/relay" // its init sends hooks to a server
	"github.com/seed-fb9cbc17/cairn/internal/background"
)

// gcPercent suits a process that lives for milliseconds: most runs end before the
// first collection would have paid for itself. Above memoryLimit, which only the
// first track of a very large tree and JSON diffs of very large files come near,
// memory counts for more than time.
const (
	gcPercent   = 1600
	memoryLimit = 184 << 20
)

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit)
	}
	dir, _ := os.Getwd() // "" matters only to commands that need it
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv, dir))
}

// newProgram returns one run of the program with all commands.
func newProgram(stdin io.Reader, stdout, stderr io.Writer, env func(string) string, dir string) *cli.Program {
	c := cli.New(stdin, stdout, stderr, env, dir)
	c.Commands = commands
	return c
}

// run is the whole program: it carries out one command line as seen from a current
// directory and returns the exit status.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer, env func(string) string, dir string) int {
	ctx, catch := interruptible()
	c := newProgram(stdin, stdout, stderr, env, dir)
	c.Spawn = func(args []string) error { return spawn(nil, args) }
	c.SpawnIn, c.Catch, c.Lookup, c.Environ = spawn, catch, os.LookupEnv, os.Environ
	return c.Run(ctx, args)
}

// interruptible returns a context that ends with the first SIGINT, SIGTERM or SIGHUP after catch
// was called. From then on SIGINT and SIGTERM do what they do by default, so that the second ends
// the process at once. A closed terminal sends SIGHUP, and its shell may send it again: that stays
// caught. A signal that the caller had set to be ignored stays ignored.
// Catching them takes a thread and some messages to it, a tenth of the time of a short
// command, so some commands begin before.
func interruptible() (ctx context.Context, catch func()) {
	ctx, cancel := context.WithCancel(context.Background())
	return ctx, sync.OnceFunc(func() {
		first, closed := make(chan os.Signal, 1), make(chan os.Signal, 1)
		notify(first, os.Interrupt, syscall.SIGTERM)
		notify(closed, syscall.SIGHUP)
		go func() {
			select {
			case <-first:
			case <-closed:
			}
			cancel()
			signal.Stop(first)
		}()
	})
}

// notify lets a channel get the signals that are not ignored.
func notify(to chan<- os.Signal, signals ...os.Signal) {
	for _, s := range signals {
		if !signal.Ignored(s) {
			signal.Notify(to, s)
		}
	}
}

// spawn starts this program again in the background, with an environment or, for nil, with its own.
func spawn(env, args []string) error {
	path, err := program.Path()
	if err != nil {
		return err
	}
	return background.Start(path, os.Args[0], env, args)
}
