package retention

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb/keep"
	"github.com/seed-fb9cbc17/cairn/internal/settings"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// recordOf returns the record of the user's git repository that a commit names.
func recordOf(c *object.CommitData) string {
	var m struct{ Git string }
	value := c.Header(state.MetadataHeader)
	if !strings.Contains(value, `"git":`) || json.Unmarshal([]byte(value), &m) != nil {
		return ""
	}
	return m.Git
}

// outsideOf returns the records of paths outside the root that a commit names.
func outsideOf(c *object.CommitData) (ids []string) {
	var line struct{ Outside []string }
	if value := c.Header(history.LineHeader); strings.Contains(value, `"outside":`) && json.Unmarshal([]byte(value), &line) == nil {
		ids = line.Outside
	}
	var op struct {
		ID string `json:"outsideRecord"`
	}
	if value := c.Header(history.OperationHeader); strings.Contains(value, `"outsideRecord":`) && json.Unmarshal([]byte(value), &op) == nil {
		ids = append(ids, op.ID)
	}
	return ids
}

// records are the refs of the records that a commit names.
func (n *node) records() (refs []string) {
	if n.git != "" {
		refs = append(refs, history.RefGit+n.git)
	}
	for _, id := range n.outside {
		refs = append(refs, history.RefOutside+id)
	}
	return refs
}

// judgeRecords finds the records that no living checkpoint names. A parent of a living commit counts
// as living: it stays as the end of a line.
func (s *survey) judgeRecords(v *verdict, live map[object.ID]bool) {
	named := make(map[string]bool)
	name := func(id object.ID) {
		n := s.Known[id]
		if n == nil {
			return
		}
		for _, ref := range n.records() {
			named[ref] = true
		}
		if n.git == "" {
			return
		}
		if v.oldest.IsZero() || n.when.Before(v.oldest) {
			v.oldest = n.when
		}
	}
	for id := range live {
		if name(id); s.Known[id] != nil {
			for _, p := range s.Known[id].Parents {
				name(p)
			}
		}
	}
	for _, ref := range s.records {
		if !named[ref.Name] {
			v.records = append(v.records, ref)
		}
	}
}

// dropRecords deletes the refs of the records that go, and the objects of the user's repository that
// no record needs. It spares what a checkpoint names that is newer than the survey.
func (r *Cleaner) dropRecords(ctx context.Context, _ *history.Locked, s *survey, v *verdict, done *CleanResult) error {
	newer, err := s.newerRecords(ctx)
	if err != nil {
		return err
	}
	for _, ref := range v.records {
		if slices.Contains(newer, ref.Name) {
			continue
		}
		if err := r.DB.DropRef(ref.Name); err != nil {
			return err
		}
	}
	limits := keep.Limits{Now: r.Now(), Oldest: v.oldest, Most: -1}
	if len(newer) > 0 && limits.Oldest.IsZero() {
		limits.Oldest = limits.Now.Add(-settings.DefaultMaxAge)
	}
	if r.Room.MaxBytes > 0 {
		limits.Most = r.Room.MaxBytes / keep.Share
	}
	trimmed, err := r.Vault().Trim(limits)
	done.Freed += trimmed.Freed
	if trimmed.Early > 0 {
		r.Log.Warn("objects of git dropped before their time, to stay within the limit of the store", "files", trimmed.Early)
	}
	return err
}

func isRecord(ref string) bool {
	return strings.HasPrefix(ref, history.RefGit) || strings.HasPrefix(ref, history.RefOutside)
}

// newerRecords lists the refs of the records that checkpoints name which came after the survey.
func (s *survey) newerRecords(ctx context.Context) (list []string, err error) {
	refs, err := s.repo.DB.Refs(history.RefRoot)
	if err != nil {
		return nil, err
	}
	var stack []object.ID
	for _, ref := range refs {
		if ref.Err == nil && !isRecord(ref.Name) {
			stack = append(stack, ref.ID)
		}
	}
	for len(stack) > 0 {
		id := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if s.Known[id] != nil {
			continue
		}
		n, err := s.node(ctx, id)
		if err != nil {
			return nil, err
		}
		if n != nil {
			list = append(list, n.records()...)
			stack = append(stack, n.Parents...)
		}
	}
	return list, nil
}
