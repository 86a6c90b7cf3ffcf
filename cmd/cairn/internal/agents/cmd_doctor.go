package agents

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/internal/agents"
	"github.com/seed-fb9cbc17/cairn/internal/secretrules"
	"github.com/seed-fb9cbc17/cairn/internal/transfer"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

const doctorManual = `cairn doctor looks for what is wrong, and mends it.

Usage:
    cairn doctor [--fix] [--quick] [--from PLACE]
    cairn doctor --remove-abandoned

It checks the store of this project: objects, packs, refs, the stat cache, the
journal, locks, files that a crash left behind, permissions, and whether its
disk has less free than is to stay free; the configuration, and with seal = true
its keys;
steps of sessions that an agent left open when it was killed; sessions that
cannot be read;
whether there are stores of directories that are gone; whether a server that is
running is kept from watching by a limit of the system, and whether one that is
to run on demand is there; and whether the coding
agents that are found are set up, trusted and heard of. One line is printed for
each thing that is wrong, and one with its repair; -v lists more than ten of one
kind. Nothing wrong is said so.

--fix repairs, and always ends in a store that works. What cannot be used is set
aside in the store, in cairn/damaged, not thrown away. Objects that are lost are
looked for in what was set aside, on the disk of the root, in the project's own
git repository, in the other stores of the data directory, and in PLACE. What no
place holds is cut out of the history, and a line tells of each thing that went:

    a path         the checkpoints that held it count it as present, but not
                   captured, with the reason "lost"; they get new ids, and the
                   old ids still find them
    a checkpoint   its line begins with the next newer one; what came before is
                   set aside under refs/cairn/lost, and cairn log still shows it
    an operation   the list of operations goes on without it
    a pin, a line  it is dropped, or ends with its newest whole checkpoint

A session whose record is damaged is set aside under refs/cairn/lost, too. The
list of purged paths, if damaged, is set aside like any other file: purge what
is to stay out of captures again.

The list of losses is kept in the store, in cairn/lost. Give --from the first
time: what has been cut out does not come back into its line. Without --fix the
same is printed as what is to be done, and nothing is changed.

Options:
    --fix               repair what can be repaired
    --quick             do not read the contents of objects
    --from PLACE        look for lost objects there, too: a git repository that
                        cairn push sent checkpoints to (a URL or a path), a
                        store, or a data directory. What lies sealed there is
                        opened with the setting identity. A path that is not
                        there is an error, and nothing is looked at
    --remove-abandoned  remove the stores of directories that are gone, unless
                        they were used within the last day. A drive that is not
                        mounted makes a directory look gone: look at cairn du
                        first

With --json the answer is an array of {"kind", "path", "ref", "id", "text",
"repair", "fixed"}.

The exit status is 1 when something is wrong and was not mended, and when PLACE
is not there.
`

// errUnwell ends doctor when something is wrong, errMendable where --fix would mend some of it.
var (
	errUnwell   = errors.New("something is wrong")
	errMendable = fmt.Errorf("%w (cairn doctor --fix mends the store)", errUnwell)
)

// abandonedGrace is the time since its last use after which a store may count as
// abandoned.
const abandonedGrace = 24 * time.Hour

// doctorFlags are the options of doctor.
type doctorFlags struct {
	fix, quick, remove bool
	from               string
}

// checkup is one part of doctor. It returns its findings, and an error if it could not
// check.
type checkup func(ctx context.Context, f doctorFlags) ([]cairn.Fault, error)

// checkups are all parts, in the order of the answer.
func (c *commands) checkups() []checkup {
	return []checkup{c.checkSettings, c.checkStore, c.checkSealing, c.checkAbandoned, c.checkWatching, c.checkServer, c.checkConnections}
}

func (c *commands) doctorCommand() *cobra.Command {
	var f doctorFlags
	cmd := c.Command(cli.Command{
		Use: "doctor [--fix]", Short: "look for what is wrong, and mend it", Manual: doctorManual,
		Args: cli.ArgCount(0, 0, "no arguments"), Complete: cobra.NoFileCompletions,
		Run: func(ctx context.Context, _ *cobra.Command, _ []string) error {
			if err := c.findPlace(&f); err != nil {
				return err
			}
			all := []cairn.Fault{}
			for _, check := range c.checkups() {
				found, err := check(ctx, f)
				all = append(all, found...)
				if err != nil {
					return c.endEarly(all, f, err)
				}
			}
			return c.printFindings(all, f)
		},
	})
	cmd.Flags().BoolVar(&f.fix, "fix", false, "repair what can be repaired")
	cmd.Flags().BoolVar(&f.quick, "quick", false, "do not read the contents of objects")
	cmd.Flags().StringVar(&f.from, "from", "", "look for lost objects there, too")
	cmd.Flags().BoolVar(&f.remove, "remove-abandoned", false, "remove the stores of directories that are gone")
	return cmd
}

// findPlace makes the path of --from absolute. A place that is not there is an error also where nothing is lost: the
// user would take the store for one that was compared with it.
func (c *commands) findPlace(f *doctorFlags) error {
	if f.from == "" || !transfer.IsLocal(f.from) {
		return nil
	}
	paths, err := c.Paths([]string{f.from})
	if err != nil {
		return err
	}
	f.from = paths[0]
	if _, err := os.Stat(f.from); err != nil {
		return fmt.Errorf("look for lost objects: %w", err)
	}
	return nil
}

// endEarly prints the findings from before an error. Repairs that are worked out last are not known then.
func (c *commands) endEarly(all []cairn.Fault, f doctorFlags, err error) error {
	if len(all) == 0 {
		return err
	}
	for i := range all {
		if all[i].Repair == "" && !all[i].Fixed {
			all[i].Repair = "not known: the check ended with an error; mend its cause and type cairn doctor again"
		}
	}
	if written := c.printFindings(all, f); !errors.Is(written, errUnwell) {
		err = errors.Join(err, written)
	}
	return err
}

func (c *commands) printFindings(all []cairn.Fault, f doctorFlags) (err error) {
	var unwell error
	for i := range all {
		if !all[i].Fixed {
			unwell = cmp.Or(unwell, errUnwell)
		}
		if !all[i].Fixed && !f.fix && all[i].Repair != "" && !slices.Contains(advised, all[i].Kind) {
			unwell = errMendable
		}
	}
	if c.Global.JSON {
		err = c.WriteJSON(all)
	} else {
		c.listFindings(all)
		if len(all) == 0 {
			_, err = c.Out.WriteString("nothing is wrong\n")
		}
	}
	return cmp.Or(err, unwell)
}

// advised are the kinds of faults whose repairs are advice to the user. --fix carries out those of all others.
var advised = []string{"abandoned", "agent", "configuration", "later release", "purge", "sealed", "server", "session", "store", "watching"}

// listFindings prints the first findings of each kind, as cut does with lines, and in the
// end how many more there are.
func (c *commands) listFindings(all []cairn.Fault) {
	count := make(map[string]int)
	for _, f := range all {
		if count[f.Kind]++; count[f.Kind] <= cli.MaxListed || c.Global.Verbose {
			c.printFinding(f)
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(count)) {
		if more := count[kind] - cli.MaxListed; more > 0 && !c.Global.Verbose {
			fmt.Fprintf(c.Out, "%s: and %d more (-v lists them all)\n", kind, more)
		}
	}
}

func (c *commands) printFinding(f cairn.Fault) {
	fmt.Fprintf(c.Out, "%s: %s\n", f.Kind, wording.Printable(findingText(f)))
	switch {
	case f.Fixed:
		fmt.Fprintf(c.Out, "    mended: %s\n", wording.Printable(f.Repair))
	case f.Repair != "":
		fmt.Fprintf(c.Out, "    to do: %s\n", wording.Printable(f.Repair))
	default:
		c.Out.WriteString("    nothing can be done\n")
	}
}

// findingText is the text of a finding, with its path or its ref in front.
func findingText(f cairn.Fault) string {
	where := string(f.Path)
	if where == "" {
		where = f.Ref
	}
	if where == "" || strings.Contains(f.Text, where) {
		return f.Text
	}
	return where + ": " + f.Text
}

// checkSettings finds configuration that cannot be used.
func (c *commands) checkSettings(context.Context, doctorFlags) ([]cairn.Fault, error) {
	dir, err := c.WorkDir()
	if err != nil {
		return nil, err
	}
	root, err := c.RootDir(dir)
	if err != nil {
		return nil, err
	}
	cfg, err := c.Settings(root)
	switch {
	case cli.IsConfigError(err):
		return misconfigured(err, "nothing is captured"), nil
	case err == nil && cfg.Broken() != nil:
		return misconfigured(cfg.Broken().Err, "nothing in that file is in force, and captures go on with your own settings"), nil
	case err == nil && cfg.SecretRules != "" && cfg.Secrets != cairn.SecretsOff:
		if _, unread := secretrules.Load(cfg.SecretRules); unread != nil {
			return misconfigured(unread, "nothing is captured"), nil
		}
	}
	return nil, err
}

func misconfigured(err error, until string) (found []cairn.Fault) {
	for _, text := range wording.Messages(err) {
		found = append(found, cairn.Fault{Kind: "configuration", Text: text, Repair: "correct it by hand; until then " + until})
	}
	return found
}

// checkWatching finds limits of the system that make the server scan the whole root for
// each capture.
func (c *commands) checkWatching(ctx context.Context, _ doctorFlags) ([]cairn.Fault, error) {
	s := c.ServerState(ctx)
	if s == nil || s.Watching == nil || s.Watching.Limit == "" {
		return nil, nil
	}
	return []cairn.Fault{{
		Kind: "watching", Text: "cairn serve looks at everything each time: " + s.Watching.Reason,
		Repair: fmt.Sprintf("raise %s with sysctl as root; until then nothing is lost but time", s.Watching.Limit),
	}}, nil
}

// checkConnections is the part of doctor about agents. Healthy connections are remarks
// on stderr.
func (c *commands) checkConnections(context.Context, doctorFlags) ([]cairn.Fault, error) {
	report, err := c.checkAgents()
	if err != nil {
		return nil, err
	}
	c.remarks(report.Lines)
	return report.Findings, nil
}

func (c *commands) checkAgents() (*agents.Report, error) {
	dir, err := c.hooksDir()
	if err != nil {
		return nil, err
	}
	from := agents.Sources{HooksDir: dir, User: c.agentPlaces(), Now: c.Console.Now()}
	if root, err := c.projectDir(); err == nil {
		from.Project = root
	}
	return agents.Check(from)
}

func (c *commands) remarks(lines []string) {
	for _, line := range lines {
		c.Console.Remark("%s", line)
	}
}
