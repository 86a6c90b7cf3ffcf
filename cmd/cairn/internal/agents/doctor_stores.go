package agents

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/internal/access"
	"github.com/seed-fb9cbc17/cairn/internal/agents"
	"github.com/seed-fb9cbc17/cairn/internal/hooks"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
	"github.com/seed-fb9cbc17/cairn/session"
)

// checkStore checks the store of this project. None is no fault.
func (c *commands) checkStore(ctx context.Context, f doctorFlags) ([]cairn.Fault, error) {
	opt, err := c.Options()
	if cli.IsConfigError(err) {
		return nil, nil // checkSettings has reported it
	}
	if err != nil {
		return nil, err
	}
	dir := cairn.StorePath(opt.DataDir, opt.Root)
	repo, err := cairn.Open(opt)
	switch {
	case errors.Is(err, cairn.ErrNotFound):
		return nil, nil
	case errors.Is(err, cairn.ErrSealed):
		return []cairn.Fault{{Kind: "sealed", Path: cairn.Path(dir), Text: err.Error(),
			Repair: "type cairn unseal --identity FILE; agents go on without checkpoints until then"}}, nil
	case errors.Is(err, cairn.ErrStore):
		return []cairn.Fault{{Kind: "store", Path: cairn.Path(dir), Text: err.Error(), Repair: unusable(err)}}, nil
	case err != nil:
		return nil, err
	}
	full := unwritable(dir)
	if len(full) == 0 {
		full = tight(repo, dir)
	}
	found, err := repo.Check(ctx, cairn.CheckOptions{Fix: f.fix, Quick: f.quick, From: f.from})
	var steps, unread []cairn.Fault
	if err == nil {
		sessions := session.New(repo)
		var remarks []string
		steps, remarks, err = agents.OpenSteps(ctx, sessions, f.fix)
		c.remarks(remarks)
		if err == nil {
			unread, err = agents.Unread(ctx, sessions, f.fix)
		}
	}
	return slices.Concat(full, found, steps, unread), errors.Join(err, repo.Close())
}

// unwritable finds a store that takes no checkpoint: its disk is full, or may not be written.
func unwritable(dir string) []cairn.Fault {
	err := hooks.Probe(dir)
	if err == nil {
		return nil
	}
	repair := cmp.Or(hooks.Remedy(err), "see why that directory cannot be written")
	return []cairn.Fault{{Kind: "store", Path: cairn.Path(dir), Text: "no checkpoint can be taken: " + err.Error(), Repair: repair}}
}

// tight finds a store whose disk has less free than is to stay free.
func tight(repo *cairn.Repo, dir string) []cairn.Fault {
	least := repo.Limits().MinFree
	free, err := access.FreeSpace(repo)
	if err != nil || free >= least {
		return nil
	}
	return []cairn.Fault{{
		Kind: "store", Path: cairn.Path(dir),
		Text:   fmt.Sprintf("no new contents can be stored: %s free on that disk, of which %s are to stay free", wording.Size(free), wording.Size(least)),
		Repair: "make room on that disk, as cairn --min-free 0 gc may do; or lower min_free_bytes (cairn config)",
	}}
}

// unusable is what to do about a store that cannot be opened. Only a damaged one is in the way: a full disk, or another
// process, keeps a whole one from being opened, too.
func unusable(err error) string {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return "give the directory to the user that works here, as with chown -R; the store itself may be whole"
	case errors.Is(err, errors.ErrUnsupported): // made by a later program
		return "use the cairn that made it, or a later one; the store itself may be whole"
	case errors.Is(err, cairn.ErrCorrupt):
		return "move the directory away; cairn track makes a new store, and any git reads what the old one still holds"
	}
	return cmp.Or(hooks.Remedy(err), "mend what the error names, and type cairn doctor again; the store itself may be whole")
}

// checkAbandoned finds stores of directories that are gone, and directories that are no
// usable store.
func (c *commands) checkAbandoned(ctx context.Context, f doctorFlags) ([]cairn.Fault, error) {
	stores, err := c.Stores()
	if cli.IsConfigError(err) {
		return nil, nil
	}
	own := ""
	if opt, err := c.Options(); err == nil {
		own = cairn.StorePath(opt.DataDir, opt.Root)
	}
	var found []cairn.Fault
	for _, s := range stores {
		switch {
		case errors.Is(s.Err, cairn.ErrSealed), s.Err != nil && s.Dir == own: // checkStore reports that of this directory
		case s.Err != nil:
			found = append(found, cairn.Fault{
				Kind: "store", Path: cairn.Path(s.Dir), Text: s.Err.Error(),
				Repair: "type cairn doctor --fix in the directory that it belongs to",
			})
		case s.Missing:
			found = append(found, c.abandoned(ctx, s, f.remove))
		}
	}
	return found, err
}

func (c *commands) abandoned(ctx context.Context, s cairn.StoreInfo, remove bool) cairn.Fault {
	f := cairn.Fault{
		Kind: "abandoned", Path: cairn.Path(s.Dir),
		Text: fmt.Sprintf("%s is gone; its store takes %s", pathtext.Place(s.Root), wording.Size(s.Size)),
		Repair: fmt.Sprintf("where it was moved to, cairn adopt %[1]s; where it was removed, mkdir %[1]s, and in it cairn restore @; "+
			"if it is to stay gone, cairn doctor --remove-abandoned", wording.ShellWord(s.Root)),
	}
	switch {
	case remove && c.Console.Now().Sub(s.Used) < abandonedGrace:
		f.Text += ", was used within the last day and stays until then"
	case remove:
		opt, err := c.Options()
		if err == nil {
			err = cairn.RemoveStore(ctx, opt.DataDir, s.Root)
		}
		if f.Repair, f.Fixed = "remove the store", err == nil; err != nil {
			f.Text += "; not removed: " + err.Error()
		}
	}
	return f
}
