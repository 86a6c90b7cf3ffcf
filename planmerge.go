package cairn

// merge adds another plan. Where both would do something to one path, the earlier
// plan has the say.
func (p *plan) merge(other *plan) {
	has := make(map[string]bool, len(p.changes))
	for i := range p.changes {
		has[p.changes[i].Path] = true
	}
	for _, c := range other.changes {
		if !has[c.Path] {
			p.changes = append(p.changes, c)
		}
	}
	p.losses = append(p.losses, other.losses...)
	p.kept = append(p.kept, other.kept...)
	p.conflicts = append(p.conflicts, other.conflicts...)
}
