package capture

import (
	"encoding/json"
	"reflect"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// Metadata returns the metadata of the capture. It is computed on demand, because an unchanged
// track does not need it.
func (c *Snapshot) Metadata() *state.Metadata {
	if c.meta == nil {
		c.meta = describe(c.Index, c.rules.context, &state.RulesBeside{Texts: c.rules.aux.RuleTexts, Misjudged: c.misjudged}, c.claims)
		if c.rules.user != nil && (c.claims == nil || c.claims.Kind != state.ExtentPaths) {
			c.meta.Skipped = append(c.meta.Skipped, c.rules.user.sparse(c.Index)...)
		}
	}
	return c.meta
}

// aux returns the part of the stat cache that belongs to this package. It includes a checksum of
// the state's metadata, so that an unchanged state need not be described again.
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

// counted returns the number of paths that an operation changed. The next Track uses it if nothing
// changes in between, and need not compare trees.
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

// Adopt takes the metadata from the checkpoint of the state that the stat cache had before this
// capture, if nothing that the metadata records has changed. This avoids a walk over most of the
// index.
func (c *Snapshot) Adopt(cp *history.Checkpoint) {
	if cp == nil || c.claims != nil || c.meta != nil || history.TreeOf(cp) != c.from || c.rules.user != nil && c.rules.user.full != nil {
		return
	}
	if c.changed && c.rules.user != nil && len(c.rules.user.kept.Sparse) > 0 {
		return // a path left out by the sparse checkout has no record that would show a change
	}
	text := history.CommitOf(cp).Header(state.MetadataHeader)
	if len(c.misjudged) > 0 || c.rules.before.Misjudged {
		return // rules that were uncertain then may be certain now
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

// encoded returns the metadata as a commit stores them.
func (c *Snapshot) encoded() (text string, err error) {
	if m := c.Metadata(); c.text == "" {
		c.text, err = m.Encode()
	}
	return c.text, err
}

// described caches the metadata of the last Track's checkpoint, decoded and encoded. Most
// checkpoints have the metadata of the one before.
type described struct {
	id, tree object.ID
	text     string
	sum      string
	meta     *state.Metadata
}

// checkpoint returns a partial Checkpoint: enough to compare the next one with.
func (d *described) checkpoint() *history.Checkpoint {
	return history.KnownCheckpoint(d.id, d.tree, d.meta, d.text)
}

// checksum hashes a text. It reuses the cached sum for the cached text.
func (d *described) checksum(text string) string {
	if d.sum != "" && d.text == text {
		return d.sum
	}
	return state.Checksum(text)
}
