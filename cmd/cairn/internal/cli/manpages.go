package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn/internal/manpage"
)

// manPages returns the manual page of cairn and those of its commands, from the texts of help.
func (c *Program) manPages() []manpage.Page {
	date, source := c.manDate().UTC().Format(time.DateOnly), "cairn "+ThisBuild().Version
	of := func(name string, cmd *cobra.Command, others ...string) manpage.Page {
		return manpage.Page{Name: name, Short: cmd.Short, Text: cmd.Long, Date: date, Source: source, SeeAlso: others}
	}
	var pages []manpage.Page
	var names []string
	for _, cmd := range c.Root.Commands() {
		name := "cairn-" + cmd.Name()
		names = append(names, name)
		pages = append(pages, of(name, cmd, "cairn"))
	}
	slices.Sort(names)
	return append(pages, of("cairn", c.Root, names...))
}

// manDate is the date of the pages: that of the sources, so that a build can be repeated.
func (c *Program) manDate() time.Time {
	if seconds, err := strconv.ParseInt(c.Env("SOURCE_DATE_EPOCH"), 10, 64); err == nil {
		return time.Unix(seconds, 0)
	}
	if at := buildTime(); !at.IsZero() {
		return at
	}
	return c.Console.Now()
}

// writeManPages writes all pages to a directory.
func (c *Program) writeManPages(dir string) error {
	base, err := c.WorkDir()
	if err != nil {
		return err
	}
	if dir = AbsolutePath(base, dir); dir == base {
		return c.Usage("--man wants a directory of its own for the pages")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	pages := c.manPages()
	for i := range pages {
		if err := os.WriteFile(filepath.Join(dir, pages[i].Name+".1"), manpage.Roff(&pages[i]), 0o644); err != nil {
			return err
		}
	}
	return nil
}
