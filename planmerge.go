package cairn

// Merge adds another plan. Where both would do something to one path, the earlier
// plan has the say.
func (p *Plan) Merge(other *Plan) {
	has := make(map[string]bool, len(p.Changes))
	for i := range p.Changes {
		has[p.Changes[i].Path] = true
	}
	for _, c := range other.Changes {
		if !has[c.Path] {
			p.Changes = append(p.Changes, c)
		}
	}
	p.Losses = append(p.Losses, other.Losses...)
	p.Kept = append(p.Kept, other.Kept...)
	p.Conflicts = append(p.Conflicts, other.Conflicts...)
}
