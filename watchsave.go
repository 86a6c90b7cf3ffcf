package cairn

// append saves what has changed in the stat cache. It is called with the store's lock and
// w.mu.
func (w *watching) append(r *Repo) error {
	err := w.index.Append(r.indexFile())
	w.saved = r.indexState()
	return err
}

// renamePacks is Repo.renamePacks for the stat cache in memory, if nobody has saved since:
// the next capture goes on with that. It is called with the store's lock.
func (w *watching) renamePacks(r *Repo, have, left []string) (done bool, err error) {
	if w == nil {
		return false, nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.overtaken(r) || lackedBy(w.index, have) != "" {
		return false, nil
	}
	return true, w.livesIn(r, left)
}

// livesIn has the stat cache, and its files, speak of other packs. It is called as append is.
func (w *watching) livesIn(r *Repo, packs []string) error {
	w.index.SetPrivate(packs, w.index.Aux)
	return w.append(r)
}

// overtaken reports whether another process has saved since, or a capture has failed. It is
// called with w.mu.
func (w *watching) overtaken(r *Repo) bool { return w.index == nil || w.saved != r.indexState() }
