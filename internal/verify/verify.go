package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/thinned"
)

// Options narrow a verification down. The zero value checks everything.
type Options struct {
	Since time.Time // only checkpoints of this time and later
	After string    // only checkpoints that are neither this one, a hash, nor before it on its line

	// Signers is the path of a list of allowed signers, see ssh-keygen(1). With it, every signature is
	// checked. "" = Options.Signers of the Repo.
	Signers string
}

// Report is the result of a verification.
type Report struct {
	Sound       bool     `json:"sound" doc:"There is no finding."`
	Checkpoints int      `json:"checkpoints" doc:"Checkpoints and operations that were checked."`
	Objects     int      `json:"objects" doc:"Commits, trees and files that were read and hashed again."`
	Lines       []Line   `json:"lines" doc:"Sessions, days, pins, operations, imported and fetched lines."`
	Signatures  []Signed `json:"signatures" doc:"The newest signed head of each line that has one."`

	Gaps     []Note `json:"gaps" doc:"What is missing or has new ids because cairn cleaned, purged or repaired."`
	Findings []Note `json:"findings" doc:"Everything else that is not as it was recorded."`
}

// Line is a line of checkpoints.
type Line struct {
	Ref         string `json:"ref" doc:"Name in the store."`
	Checkpoint  string `json:"checkpoint" doc:"Id of the newest."`
	Checkpoints int    `json:"checkpoints" doc:"That were checked, those of earlier lines left out."`
}

// Note is a gap or a finding.
type Note struct {
	Kind       string `json:"kind" doc:"Of a gap: cleaned, thinned, rewritten, repaired, gone. Of a finding: ref, missing, object, checkpoint, record, link, signature, head."`
	Ref        string `json:"ref,omitempty" doc:"The line."`
	Checkpoint string `json:"checkpoint,omitempty" doc:"The id in question."`
	Text       string `json:"text"`
}

// Kinds of gaps.
const (
	GapCleaned   = "cleaned"   // a cleaning has dropped older checkpoints
	GapRewritten = "rewritten" // a purge or a repair gave checkpoints new ids
	GapRepaired  = "repaired"  // a repair gave up what was lost
	GapThinned   = "thinned"   // a cleaning has dropped states and kept their checkpoints' places
)

// Kinds of findings.
const (
	FindRef        = "ref"        // a ref cannot be read
	FindMissing    = "missing"    // an object is not there
	FindObject     = "object"     // an object cannot be read, or its bytes are not those of its name
	FindCheckpoint = "checkpoint" // a commit is no checkpoint of cairn
	FindRecord     = "record"     // the record of a session or of an operation cannot be read
	FindLink       = "link"       // a record says something else than the chain
)

// maxNotes is the largest number of gaps, and of findings.
const maxNotes = 1000

// Run checks the lines of a store. cairn.Repo.Verify states the contract.
func Run(ctx context.Context, s *history.Store, opt Options) (*Report, error) {
	report, err := pass(ctx, s, opt)
	if err != nil || report.Sound {
		return report, err
	}
	var again *Report
	err = s.Locked(ctx, func(*history.Locked) (err error) {
		again, err = pass(ctx, s, opt)
		return err
	})
	if again != nil && err == nil {
		return again, nil
	}
	return report, ctx.Err() // no process works in a store that cannot be locked
}

// verifier is one pass.
type verifier struct {
	*history.Store
	ctx    context.Context
	since  time.Time
	before map[object.ID]bool // commits that are not asked about
	ends   history.Ends
	report Report
	ref    string // the line in question

	commits map[object.ID]*commit
	trees   map[object.ID]bool
	blobs   map[object.ID]bool
	told    map[string]bool // notes, each once
}

// commit is a commit that was checked.
type commit struct {
	parents []object.ID // without those that were cleaned away
	data    *object.CommitData
	gone    bool // its state was thinned
}

func pass(ctx context.Context, s *history.Store, opt Options) (*Report, error) {
	v := &verifier{
		Store: s, ctx: ctx, since: opt.Since, before: make(map[object.ID]bool), ends: s.Ends(),
		report:  Report{Lines: []Line{}, Signatures: []Signed{}, Gaps: []Note{}, Findings: []Note{}},
		commits: make(map[object.ID]*commit), trees: make(map[object.ID]bool), blobs: make(map[object.ID]bool), told: make(map[string]bool),
	}
	if opt.After != "" {
		c, err := s.Lookup(ctx, opt.After)
		if err != nil {
			return nil, err
		}
		if err := v.leaveOut(history.IDOf(c)); err != nil {
			return nil, err
		}
	}
	refs, err := s.DB.Refs(history.RefRoot)
	if err != nil {
		return nil, fmt.Errorf("verify: %w", err)
	}
	v.known()
	for _, ref := range refs {
		if !isLine(ref.Name) {
			continue
		}
		if err := v.line(ref); err != nil {
			return nil, err
		}
	}
	if err := v.signatures(ctx, cmp.Or(opt.Signers, s.Opt.Signers)); err != nil {
		return nil, err
	}
	v.report.Sound = len(v.report.Findings) == 0
	return &v.report, nil
}

// isLine reports whether a ref leads to checkpoints or operations.
func isLine(name string) bool {
	for _, prefix := range []string{history.RefTracks, history.RefSessions, history.RefPins, history.RefImported, history.RefRemotes, history.RefLost} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return name == history.RefOperations
}

// leaveOut marks a commit and those before it as not asked about.
func (v *verifier) leaveOut(id object.ID) error {
	for queue := []object.ID{id}; len(queue) > 0; {
		id, queue = queue[len(queue)-1], queue[:len(queue)-1]
		if v.before[id] {
			continue
		}
		v.before[id] = true
		if err := v.ctx.Err(); err != nil {
			return err
		}
		c, err := v.ReadCheckpoint(id)
		if errors.Is(err, odb.ErrNotFound) || errors.Is(err, state.ErrNotFound) {
			continue // older checkpoints are left out as well
		}
		if err != nil {
			return err
		}
		queue = append(queue, history.CommitOf(c).Parents...)
	}
	return nil
}

// known notes what repairs gave up, and whether the list of thinned checkpoints can be read.
func (v *verifier) known() {
	table, err := thinned.Read(v.DB, nil)
	if err == nil {
		_, err = table.All()
	}
	if err != nil {
		v.finding(Note{Kind: FindRecord, Ref: thinned.Ref, Text: err.Error()})
	}
	losses, err := v.Losses()
	if err != nil {
		v.finding(Note{Kind: FindRecord, Text: "the list of losses: " + err.Error()})
	}
	for _, l := range losses {
		if l.Kind != "aside" {
			v.gap(Note{Kind: GapRepaired, Ref: l.Ref, Checkpoint: l.Checkpoint, Text: l.Text})
		}
	}
}

// line checks a ref and everything before it that no other ref has led to.
func (v *verifier) line(ref odb.Ref) error {
	v.ref = ref.Name
	if ref.Err != nil {
		v.finding(Note{Kind: FindRef, Text: ref.Err.Error()})
		return nil
	}
	n := len(v.commits)
	for queue := []object.ID{ref.ID}; len(queue) > 0; {
		id := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		if v.before[id] || v.commits[id] != nil {
			continue
		}
		if err := v.ctx.Err(); err != nil {
			return err
		}
		c := v.commit(id)
		if c == nil {
			continue
		}
		v.commits[id] = c
		v.report.Checkpoints++
		for _, parent := range slices.Backward(c.parents) {
			queue = append(queue, parent)
		}
	}
	if v.commits[ref.ID] == nil {
		return nil // too old, or a finding
	}
	v.report.Lines = append(v.report.Lines, Line{ref.Name, ref.ID.String(), len(v.commits) - n})
	if ref.Name == history.RefOperations {
		v.operations(ref.ID)
	} else if name := ofSession(ref.Name); name != "" {
		v.records(ref, name)
	}
	return v.ctx.Err()
}

func (v *verifier) gap(n Note) { v.report.Gaps = v.note(v.report.Gaps, "gap", n) }

func (v *verifier) finding(n Note) { v.report.Findings = v.note(v.report.Findings, "finding", n) }

func (v *verifier) note(list []Note, what string, n Note) []Note {
	if n.Ref == "" {
		n.Ref = v.ref
	}
	key := what + n.Kind + n.Checkpoint + n.Text
	if v.told[key] || len(list) == maxNotes {
		return list
	}
	v.told[key] = true
	return append(list, n)
}
