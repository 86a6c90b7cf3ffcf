package client

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"net"
	"net/url"
	"reflect"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/session"
)

// change is a way back in the form of the server.
type change struct {
	Action     string        `json:"action"`
	Hash       string        `json:"hash,omitempty"`
	From       string        `json:"from,omitempty"`
	To         string        `json:"to,omitempty"`
	Patches    []cairn.Patch `json:"patches,omitempty"`
	Paths      cairn.Paths   `json:"paths,omitempty"`
	KeepNew    bool          `json:"keepNew,omitempty"`
	OnConflict cairn.Policy  `json:"onConflict,omitempty"`
	Hunks      []string      `json:"hunks,omitempty"`
	Plan       string        `json:"planID,omitempty"`
	ThisRoot   bool          `json:"thisRoot,omitempty"`

	PassSessions bool `json:"passSessions,omitempty"`
}

// Restore is cairn.Repo.Restore.
func (c *Client) Restore(ctx context.Context, spec string, opt cairn.RestoreOptions) (*cairn.Result, error) {
	return c.goBack(ctx, change{Action: "restore", Hash: spec, Paths: opt.Paths, KeepNew: opt.KeepNew, Plan: opt.Plan}, opt.DryRun)
}

// Revert is cairn.Repo.Revert. The caller takes chosen lines back itself.
func (c *Client) Revert(ctx context.Context, in cairn.Range, opt cairn.RevertOptions) (*cairn.Result, error) {
	if len(opt.Lines) > 0 || opt.Outside {
		return nil, ErrNoServer
	}
	body := change{
		Action: "revert", From: in.From, To: in.To, Paths: opt.Paths, OnConflict: opt.OnConflict,
		Hunks: opt.Hunks, Plan: opt.Plan,
	}
	return c.goBack(ctx, body, opt.DryRun)
}

// RevertPatches is cairn.Repo.RevertPatches.
func (c *Client) RevertPatches(ctx context.Context, patches []cairn.Patch, opt cairn.RevertPatchesOptions) (*cairn.Result, error) {
	if len(patches) == 0 {
		return nil, ErrNoServer
	}
	return c.goBack(ctx, change{Action: "revert", Patches: patches, Plan: opt.Plan}, opt.DryRun)
}

// Undo is cairn.Repo.Undo. What goes beyond the files of the root is left to the caller.
func (c *Client) Undo(ctx context.Context, opt cairn.RevertOptions) (*cairn.Result, error) {
	return c.last(ctx, "undo", opt)
}

// Redo is cairn.Repo.Redo, as Undo.
func (c *Client) Redo(ctx context.Context, opt cairn.RevertOptions) (*cairn.Result, error) {
	return c.last(ctx, "redo", opt)
}

func (c *Client) last(ctx context.Context, action string, opt cairn.RevertOptions) (*cairn.Result, error) {
	if opt.Git || opt.Outside || len(opt.Hunks)+len(opt.Lines) > 0 {
		return nil, ErrNoServer
	}
	body := change{
		Action: action, Paths: opt.Paths, OnConflict: opt.OnConflict, ThisRoot: opt.ThisRoot,
		PassSessions: opt.PassSessions, Plan: opt.Plan,
	}
	return c.goBack(ctx, body, opt.DryRun)
}

// RevertSession is session.Sessions.Revert. What goes beyond files is left to the caller.
func (c *Client) RevertSession(
	ctx context.Context, id string, to session.Target, opt session.MoveOptions,
) (*session.Session, *cairn.Result, error) {
	return c.move(ctx, id, "/revert", map[string]any{"messageID": to.Message, "partID": to.Part, "start": to.Start}, opt)
}

// UnrevertSession is session.Sessions.Unrevert, as RevertSession.
func (c *Client) UnrevertSession(ctx context.Context, id string, opt session.MoveOptions) (*session.Session, *cairn.Result, error) {
	return c.move(ctx, id, "/unrevert", map[string]any{}, opt)
}

func (c *Client) move(
	ctx context.Context, id, path string, body map[string]any, opt session.MoveOptions,
) (*session.Session, *cairn.Result, error) {
	if opt.DryRun || opt.Git || opt.Outside || !plain(id) {
		return nil, nil, ErrNoServer
	}
	maps.Copy(body, map[string]any{"onConflict": opt.OnConflict, "planID": opt.Plan, "endOpen": opt.EndOpen, "thisRoot": opt.ThisRoot})
	maps.DeleteFunc(body, func(_ string, v any) bool { return reflect.ValueOf(v).IsZero() })
	var out struct {
		session.Session
		Result *cairn.Result `json:"result"`
	}
	err := c.change(ctx, sessionPath(id, path), body, &out)
	if err == nil && (out.Result == nil || out.ID != id) {
		err = ErrBegun
	}
	return &out.Session, out.Result, err
}

// goBack has the server go back. What the server has begun and not answered is done once
// more by the caller, who finds nothing left to do, or looks for the record of it.
func (c *Client) goBack(ctx context.Context, body change, dryRun bool) (*cairn.Result, error) {
	if dryRun {
		return nil, ErrNoServer // a plan from an answer knows no contents
	}
	var res cairn.Result
	if err := c.change(ctx, "/apply", body, &res); err != nil {
		return nil, err
	}
	return &res, nil
}

// change is Call for a way back. While another caller of the server goes back, this one waits for the lock
// itself.
func (c *Client) change(ctx context.Context, path string, in, out any) error {
	err := c.Call(ctx, path, in, out)
	if errors.Is(err, session.ErrBusy) {
		return noServer(err)
	}
	return err
}

// Named returns a client whose ways back have a token, by which their record is found; see
// operation.WithToken.
func (c *Client) Named(token string) *Client {
	named := *c
	named.token = token
	return &named
}

// Patient returns a client that gives the server at least this time, where Patience is short for what the caller does
// without it.
func (c *Client) Patient(patience time.Duration) *Client {
	patient := *c
	patient.patience = max(c.patience, patience)
	return &patient
}

// Gone reports whether no server listens any more. What it had begun goes on no longer.
func (c *Client) Gone(ctx context.Context) bool {
	conn, err := (&net.Dialer{Timeout: leisure}).DialContext(ctx, "unix", c.socket)
	if err != nil {
		return errors.Is(err, refused) || errors.Is(err, fs.ErrNotExist)
	}
	conn.Close()
	return false
}

// lookTime is the patience for an answer in place of which the caller looks at every file of a tree.
const lookTime = 250 * time.Millisecond

// Patch is cairn.Repo.Patch from a checkpoint to the disk.
func (c *Client) Patch(ctx context.Context, from string) (p cairn.Patch, err error) {
	err = c.readPatiently(ctx, "/patch", &p, url.Values{"from": {from}})
	return p, err
}

// Changes is cairn.Repo.Changes from a checkpoint to the disk. The store holds the contents of the disk
// afterwards.
func (c *Client) Changes(ctx context.Context, from string, paths []string) (list []cairn.Change, err error) {
	err = c.readPatiently(ctx, "/changes", &list, url.Values{"from": {from}, "path": paths})
	return list, err
}

// readPatiently reads what the server has found on the disk.
func (c *Client) readPatiently(ctx context.Context, path string, out any, values url.Values) error {
	return c.Patient(lookTime).Read(ctx, path, out, values)
}
