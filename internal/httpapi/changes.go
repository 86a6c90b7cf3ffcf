package httpapi

import (
	"context"
	"net/http"

	"github.com/seed-fb9cbc17/cairn"
)

// ChangeRequest describes a way back. /plan lists its changes and gives the plan an id;
// /apply carries it out.
type ChangeRequest struct {
	Action       string        `json:"action" enum:"restore,revert,undo,redo" doc:"restore goes to a state; revert takes back what changed since from, or between from and to, or in the files of patches; undo and redo are about the last of these operations."`
	Hash         string        `json:"hash,omitempty" maxLength:"200" doc:"restore: where to go."`
	From         string        `json:"from,omitempty" maxLength:"200" doc:"revert: what changed since."`
	To           string        `json:"to,omitempty" maxLength:"200" doc:"revert: up to where; what came later stays."`
	Patches      []cairn.Patch `json:"patches,omitempty" maxItems:"10000" doc:"revert: each file goes to its state at the hash of the first patch that names it."`
	Paths        []string      `json:"paths,omitempty" minItems:"1" maxItems:"100000" doc:"Only these, and what is below them."`
	KeepNew      bool          `json:"keepNew,omitempty" doc:"restore: leave alone what was created since, unless it stands in the place of what comes back."`
	OnConflict   string        `json:"onConflict,omitempty" enum:"merge,overwrite,keep,fail" doc:"What becomes of a path that was changed since."`
	Git          bool          `json:"git,omitempty" doc:"undo, redo: the git repository goes back, too. /apply does so only with a planID: 409 without one."`
	ThisRoot     bool          `json:"thisRoot,omitempty" doc:"undo, redo: only in this directory, of an operation that went over several."`
	Outside      bool          `json:"outside,omitempty" doc:"undo, redo: what was changed outside the root goes back, too."`
	PassSessions bool          `json:"passSessions,omitempty" doc:"undo, redo: ways back of sessions do not count."`
	ChosenHunks
	Plan string `json:"planID,omitempty" pattern:"^[0-9a-f]{16}$" doc:"/apply: carry out this plan and no other; 409 if it would be another one now."`
}

// BackRequest is a ChangeRequest whose action is known.
type BackRequest struct {
	Paths      []string `json:"paths,omitempty" minItems:"1" maxItems:"100000" doc:"Only these, and what is below them."`
	OnConflict string   `json:"onConflict,omitempty" enum:"merge,overwrite,keep,fail"`
	Git        bool     `json:"git,omitempty" doc:"The git repository goes back, too: only with the planID of a dry run, 409 without one."`
	ThisRoot   bool     `json:"thisRoot,omitempty" doc:"Only in this directory, of an operation that went over several."`
	Outside    bool     `json:"outside,omitempty" doc:"What was changed outside the root, and saved before, goes back, too."`
	DryRun     bool     `json:"dryRun,omitempty" doc:"Only say what would be done."`
	Plan       string   `json:"planID,omitempty" pattern:"^[0-9a-f]{16}$"`
}

type inChange struct {
	InProject
	Body ChangeRequest
}

type inBack struct {
	InProject
	Body *BackRequest
}

// OperationList is a page of operations.
type OperationList struct {
	Operations []*cairn.Operation `json:"operations"`
	Next       string             `json:"next,omitempty" doc:"The after of the next page; not there on the last one."`
}

func (s *Server) changeOperations() {
	onProject(s, endpoint{
		id: "plan", method: http.MethodPost, path: "/plan", tag: "going back", summary: "What going back would do",
		description: "Nothing is changed. planID, given to /apply with the same request, makes sure that exactly this is done.",
	}, func(ctx context.Context, p *Project, in *inChange) (*cairn.Result, error) {
		if in.Body.Plan != "" {
			return nil, badField("body.planID", in.Body.Plan, "expected only by /apply")
		}
		return in.Body.carryOut(ctx, p.Repo, true)
	})
	onProject(s, endpoint{
		id: "apply", method: http.MethodPost, path: "/apply", tag: "going back", summary: "Go back",
		description: "Whatever is overwritten or deleted is saved first. 409 while another such call of the project is under way. " +
			"It is finished even if the client hangs up.",
	}, func(ctx context.Context, p *Project, in *inChange) (*cairn.Result, error) {
		return in.Body.carryOut(ctx, p.Repo, false)
	})
	onProject(s, endpoint{
		id: "undo", method: http.MethodPost, path: "/undo", tag: "going back", summary: "Take back the last restore, revert, merge or redo",
	}, again((*Repo).Undo))
	onProject(s, endpoint{
		id: "redo", method: http.MethodPost, path: "/redo", tag: "going back", summary: "Take back the last undo",
	}, again((*Repo).Redo))
	onProject(s, endpoint{
		id: "list-operations", method: http.MethodGet, path: "/operations", tag: "going back", summary: "What was restored, reverted, merged, undone and redone, newest first",
	}, func(ctx context.Context, p *Project, in *struct {
		InProject
		Paged
	}) (OperationList, error) {
		list, next, err := page(p.Repo.Operations(ctx), in.Paged, func(o *cairn.Operation) string { return o.ID })
		return OperationList{list, next}, err
	})
}

func (b *ChangeRequest) carryOut(ctx context.Context, r *Repo, dryRun bool) (*cairn.Result, error) {
	if err := b.check(); err != nil {
		return nil, err
	}
	opt, err := revertOptions(b.Paths, b.OnConflict, dryRun, b.Plan)
	if err != nil {
		return nil, err
	}
	opt.Git, opt.ThisRoot, opt.Outside, opt.PassSessions = b.Git, b.ThisRoot, b.Outside, b.PassSessions
	if err := b.put(&opt); err != nil {
		return nil, err
	}
	switch {
	case b.Action == "restore":
		return r.Restore(ctx, b.Hash, cairn.RestoreOptions{Paths: opt.Paths, KeepNew: b.KeepNew, DryRun: dryRun, Plan: b.Plan})
	case b.Action == "undo":
		return r.Undo(ctx, opt)
	case b.Action == "redo":
		return r.Redo(ctx, opt)
	case len(b.Patches) > 0:
		return r.RevertPatches(ctx, b.Patches, cairn.RevertPatchesOptions{DryRun: dryRun, Plan: b.Plan})
	}
	return r.Revert(ctx, cairn.Range{From: b.From, To: b.To}, opt)
}

// check refuses fields that the action does not use. A client that sends them expects an
// effect that would not come.
func (b *ChangeRequest) check() error {
	has := map[string]bool{
		"hash": b.Hash != "", "from": b.From != "", "to": b.To != "", "patches": b.Patches != nil,
		"keepNew": b.KeepNew, "onConflict": b.OnConflict != "", "paths": b.Paths != nil, "git": b.Git, "thisRoot": b.ThisRoot, "outside": b.Outside,
		"hunks": b.Hunks != nil, "lines": b.Lines != nil, "passSessions": b.PassSessions,
	}
	ofLast := []string{"paths", "onConflict", "git", "thisRoot", "outside", "passSessions"}
	takes := map[string][]string{
		"restore": {"hash", "paths", "keepNew"},
		"undo":    ofLast, "redo": ofLast,
		"revert": {"from", "to", "paths", "onConflict", "hunks", "lines"},
	}[b.Action]
	if has["patches"] && b.Action == "revert" {
		takes = []string{"patches"}
	}
	for _, field := range takes {
		delete(has, field)
	}
	for _, field := range []string{"hash", "from", "to", "patches", "keepNew", "onConflict", "paths", "git", "thisRoot", "outside", "hunks", "lines", "passSessions"} {
		if has[field] {
			return badField("body."+field, "", "expected nothing: "+b.Action+" has no use for it here")
		}
	}
	switch {
	case b.Git && len(b.Paths) > 0:
		return errGitPaths()
	case b.Outside && len(b.Paths) > 0:
		return errOutsidePaths()
	case b.Action == "restore" && b.Hash == "":
		return badField("body.hash", "", "expected where to go")
	case b.Action == "revert" && b.From == "" && len(b.Patches) == 0:
		return badField("body.from", "", "expected from, or from and to, or patches")
	}
	return nil
}

// revertOptions are the options that all bodies of ways back have.
func revertOptions(paths []string, onConflict string, dryRun bool, plan string) (cairn.RevertOptions, error) {
	decoded, err := decodePaths("body.paths", paths)
	return cairn.RevertOptions{Paths: decoded, OnConflict: cairn.Policy(onConflict), DryRun: dryRun, Plan: plan}, err
}

// errOutsidePaths is the error for paths beside what lies outside the root, which goes back as a whole.
func errOutsidePaths() error { return badField("body.outside", "true", "expected none beside paths") }

// again is an operation about the last way back.
func again(run func(*Repo, context.Context, cairn.RevertOptions) (*cairn.Result, error)) func(context.Context, *Project, *inBack) (*cairn.Result, error) {
	return func(ctx context.Context, p *Project, in *inBack) (*cairn.Result, error) {
		b := either(in.Body, &BackRequest{})
		opt, err := revertOptions(b.Paths, b.OnConflict, b.DryRun, b.Plan)
		switch {
		case err != nil || len(opt.Paths) == 0:
		case b.Git:
			err = errGitPaths()
		case b.Outside:
			err = errOutsidePaths()
		}
		if err != nil {
			return nil, err
		}
		opt.Git, opt.ThisRoot, opt.Outside = b.Git, b.ThisRoot, b.Outside
		return run(p.Repo, ctx, opt)
	}
}
