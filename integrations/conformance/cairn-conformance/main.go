// Command cairn-conformance plays the scenarios of package conformance against drivers and writes a
// table of the outcomes. README.md of the package says how.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/integrations/conformance"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "cairn-conformance:", err)
		os.Exit(1)
	}
}

// drivers collects the values of a flag.
type drivers []string

func (d *drivers) String() string     { return strings.Join(*d, ", ") }
func (d *drivers) Set(s string) error { *d = append(*d, s); return nil }

func run(args []string) error {
	flags := flag.NewFlagSet("cairn-conformance", flag.ContinueOnError)
	var programs drivers
	flags.Var(&programs, "driver", "a driver as NAME=COMMAND; the command is split at blanks")
	cairn := flags.String("cairn", "", "path of cairn, \"\" = it is not played")
	git := flags.Bool("git", false, "play git checkout and git stash")
	only := flags.String("run", "", "play only scenarios whose names contain this")
	out := flags.String("out", "", "directory for a JSON file for each driver and the table of all files there;"+
		" \"\" = the table goes to stdout")
	if err := flags.Parse(args); err != nil {
		return err
	}
	list := slices.DeleteFunc(conformance.Scenarios(), func(s conformance.Scenario) bool { return !strings.Contains(s.Name, *only) })
	var reports []conformance.Report
	play := func(name, about string, driver func() conformance.Driver) {
		fmt.Fprintln(os.Stderr, "playing", name)
		reports = append(reports, conformance.Report{Driver: name, About: about, Results: conformance.Run("", list, driver)})
	}
	if *cairn != "" {
		path, err := filepath.Abs(*cairn)
		if err != nil {
			return err
		}
		play("cairn", "cairn through `cairn hook`; an undo is `cairn undo`, typed as a prompt.",
			func() conformance.Driver { return &conformance.Cairn{Program: path} })
	}
	if *git {
		play("git checkout", "`git add -A` into an index of its own before each turn; an undo is `checkout-index -fa` and `clean -fd`.",
			func() conformance.Driver { return new(conformance.Checkout) })
		play("git stash", "By hand: an undo is `git stash push --include-untracked`, a redo is `git stash pop`.",
			func() conformance.Driver { return new(conformance.Stash) })
	}
	for _, text := range programs {
		name, command, ok := strings.Cut(text, "=")
		if !ok || command == "" {
			return fmt.Errorf("-driver %s: want NAME=COMMAND", text)
		}
		play(name, "", func() conformance.Driver { return &conformance.Program{Args: strings.Fields(command)} })
	}
	if *out == "" {
		fmt.Print(conformance.Table(list, reports))
		return lostAny(reports)
	}
	if err := conformance.Save(*out, reports); err != nil {
		return err
	}
	return conformance.WriteTable(*out)
}

// lostAny is the error of a driver that lost work.
func lostAny(reports []conformance.Report) error {
	var lost []string
	for _, r := range reports {
		for _, res := range r.Results {
			if res.Outcome == conformance.Loses || res.Outcome == conformance.Error {
				lost = append(lost, r.Driver+" "+res.Scenario)
			}
		}
	}
	if len(lost) > 0 {
		return errors.New("work was lost: " + strings.Join(lost, ", "))
	}
	return nil
}
