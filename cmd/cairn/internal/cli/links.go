package cli

import (
	"os"
	"path/filepath"

	"github.com/seed-fb9cbc17/cairn/internal/console"
	"github.com/seed-fb9cbc17/cairn/internal/pager"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
)

// links makes hyperlinks of paths, for one answer.
type links struct {
	on   bool
	host string

	path, url string // the last path and its address, "" for a path that is not on disk
}

// linking decides once whether paths of the answer are links. A pager may not know them.
func (c *Program) linking() *links {
	if c.links != nil {
		return c.links
	}
	choice := string(c.Global.Hyperlink)
	l := &links{on: !c.Global.JSON && console.Linked(choice, c.Env, c.OutTerminal)}
	if l.on && choice != console.Always && c.display != nil {
		l.on = pager.ShowsLinks(c.display.command, c.Lookup)
	}
	if l.on && os.PathSeparator == '/' {
		l.host, _ = os.Hostname() // none means this machine
	}
	c.links = l
	return l
}

// PathLink makes the text of a path, which counts from the root or is absolute, a link to the file.
// A path that is not on disk has none.
func (c *Program) PathLink(path, text string) string {
	if !c.linking().on || c.LastOptions == nil {
		return text
	}
	if path = filepath.FromSlash(path); !filepath.IsAbs(path) {
		path = filepath.Join(c.LastOptions.Root, path)
	}
	return c.links.to(path, text)
}

// PlaceLink is an absolute path, as a link where links are wanted.
func (c *Program) PlaceLink(place string) string {
	if !c.linking().on {
		return pathtext.Place(place)
	}
	return c.links.to(place, pathtext.Place(place))
}

func (l *links) to(place, text string) string {
	if place != l.path {
		l.path, l.url = place, ""
		if _, err := os.Lstat(place); err == nil {
			l.url = console.FileURL(l.host, filepath.ToSlash(place))
		}
	}
	if l.url == "" {
		return text
	}
	return console.Link(l.url, text)
}
