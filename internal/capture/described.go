package capture

import (
	"encoding/json"
	"reflect"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// Metadata is computed on demand: an unchanged track does without.
func (c *Snapshot) Metadata() *state.Metadata {
	if c.meta == nil {
		c.meta = describe(c.Index, c.rules.context, &state.RulesBeside{Texts: c.rules.aux.RuleTexts, Misjudged: c.misjudged}, c.claims)
		if c.rules.user != nil && (c.claims == nil || c.claims.Kind != state.PartialPaths) {
			c.meta.Skipped = append(c.meta.Skipped, c.rules.user.sparse(c.Index)...)
		}
	}
	return c.meta
}

// aux is what to keep with the stat cache: above all, which metadata belong to this
// state, so that an unchanged one need not be described again.
func (c *Snapshot) aux() []byte {
	aux := c.rules.aux
	aux.Counted = c.counted()
	switch {
	case c.claims != nil:
	case c.meta != nil:
		if value, err := c.encoded(); err == nil {
			aux.Metadata, aux.Misjudged = c.repo.described.checksum(value), len(c.misjudged) > 0
		}
	case !c.changed:
		aux.Metadata, aux.Misjudged = c.rules.before.Metadata, c.rules.before.Misjudged
	}
	if last := c.repo.lastAux.Load(); last != nil && reflect.DeepEqual(aux, last.auxiliary) {
		return []byte(last.text)
	}
	data, err := json.Marshal(aux)
	if err != nil {
		return nil // only a cache
	}
	return data
}

// counted is what the track after an operation would have to read trees for: how many paths
// are not as they were before it. That holds as long as nothing changes.
func (c *Snapshot) counted() *counted {
	last := c.rules.before.Counted
	switch {
	case c.claims != nil || c.from.IsZero() || c.differs < 0:
		return nil
	case c.recording && c.differs > 0:
		return &counted{c.from.String(), c.Tree.String(), c.differs}
	case last != nil && last.To == c.Tree.String():
		return last
	}
	return nil
}

// Adopt takes the metadata over from the checkpoint of the state that the stat cache had,
// if nothing has changed that they speak of. That saves going through much of the index.
func (c *Snapshot) Adopt(cp *history.Checkpoint) {
	if cp == nil || c.claims != nil || c.meta != nil || history.TreeOf(cp) != c.from || c.rules.user != nil && c.rules.user.full != nil {
		return
	}
	if c.changed && c.rules.user != nil && len(c.rules.user.kept.Sparse) > 0 {
		return // what is there of that has no record
	}
	text := history.CommitOf(cp).Header(state.MetadataHeader)
	if len(c.misjudged) > 0 || c.rules.before.Misjudged {
		return // what was not sure then may be now
	}
	if before := c.rules.before.Metadata; before == "" || before != c.repo.described.checksum(text) {
		return
	}
	if history.KnownMetadata(cp) == nil && c.repo.described.text == text {
		history.SetMetadata(cp, c.repo.described.meta)
	}
	m, err := history.MetadataOf(cp)
	if err == nil && m.Rules != nil && reflect.DeepEqual(m.Ignore, c.rules.context) && (!c.changed || c.Index.OddAsSaved(m.Usual()) && m.Usual() == usualOf(c.Index)) {
		c.meta, c.text = m, text
	}
}

// encoded is the metadata as a checkpoint has them.
func (c *Snapshot) encoded() (text string, err error) {
	if m := c.Metadata(); c.text == "" {
		c.text, err = m.Encode()
	}
	return c.text, err
}

// described is the checkpoint of the last Track with its metadata in both forms, since most
// of them say the same as the ones before.
type described struct {
	id, tree object.ID
	text     string
	sum      string
	meta     *state.Metadata
}

// checkpoint has of a checkpoint what the next one is compared with.
func (d *described) checkpoint() *history.Checkpoint {
	return history.KnownCheckpoint(d.id, d.tree, d.meta, d.text)
}

// checksum is that of a text, which most often is the one described.
func (d *described) checksum(text string) string {
	if d.sum != "" && d.text == text {
		return d.sum
	}
	return state.Checksum(text)
}
