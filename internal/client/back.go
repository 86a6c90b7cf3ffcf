package client

import (
	"context"
	"errors"
	"net/url"
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
	body := change{Action: "revert", From: in.From, To: in.To, Paths: opt.Paths, OnConflict: opt.OnConflict, Hunks: opt.Hunks, Plan: opt.Plan}
	return c.goBack(ctx, body, opt.DryRun)
}

// RevertPatches is cairn.Repo.RevertPatches.
func (c *Client) RevertPatches(ctx context.Context, patches []cairn.Patch, opt cairn.RevertPatchesOptions) (*cairn.Result, error) {
	if len(patches) == 0 {
		return nil, ErrNoServer
	}
	return c.goBack(ctx, change{Action: "revert", Patches: patches, Plan: opt.Plan}, opt.DryRun)
}

// goBack has the server go back. What the server has begun and not answered is done once
// more by the caller, who finds nothing left to do. While another caller of the server goes back, this
// one waits for the lock itself.
func (c *Client) goBack(ctx context.Context, body change, dryRun bool) (*cairn.Result, error) {
	if dryRun {
		return nil, ErrNoServer // a plan from an answer knows no contents
	}
	var res cairn.Result
	err := c.Call(ctx, "/apply", body, &res)
	switch {
	case errors.Is(err, session.ErrBusy):
		return nil, noServer(err)
	case err != nil:
		return nil, err
	}
	return &res, nil
}

// lookTime is the patience for an answer in place of which the caller looks at every file of a tree.
const lookTime = 250 * time.Millisecond

// Patch is cairn.Repo.Patch from a checkpoint to the disk.
func (c *Client) Patch(ctx context.Context, from string) (p cairn.Patch, err error) {
	err = c.look(ctx, "/patch", &p, url.Values{"from": {from}})
	return p, err
}

// Changes is cairn.Repo.Changes from a checkpoint to the disk. The store holds the contents of the disk
// afterwards.
func (c *Client) Changes(ctx context.Context, from string, paths []string) (list []cairn.Change, err error) {
	err = c.look(ctx, "/changes", &list, url.Values{"from": {from}, "path": paths})
	return list, err
}

// look reads what the server has found on the disk.
func (c *Client) look(ctx context.Context, path string, out any, values url.Values) error {
	patient := *c
	patient.patience = max(c.patience, lookTime)
	return patient.Read(ctx, path, out, values)
}
