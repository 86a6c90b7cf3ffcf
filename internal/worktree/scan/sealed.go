package scan

import "github.com/seed-fb9cbc17/cairn/internal/index"

// visitSealed scans the names in the old block of n. A new block is made only when one differs.
func (w *worker) visitSealed(n *node) error {
	all := n.prev.Raw
	n.shared, n.gitignore = true, findIgnoreFile(all) != nil
	for at := 0; at < len(all); {
		rec, _ := index.Next(all[at:])
		if err := w.visitRecord(n, rec, at); err != nil {
			return err
		}
		at += len(rec)
	}
	return w.listIfEmpty(n)
}

// visitRecord scans the name of a record; at is its position in the old block.
func (w *worker) visitRecord(n *node, rec index.Record, at int) error {
	name, late := rec.Name(), w.late.Load()
	if knownDir(rec) && !late {
		if path, room := n.join(string(name)); !w.excluded(path) {
			w.enterKnown(n, path, room, rec, n.end(at))
			n.appendOld(rec)
			return nil
		}
	}
	if late {
		n.own(at)
		w.leaveName(n, string(name), rec)
		return nil
	}
	st, err := w.lstat(n, name)
	if err == nil && w.isAsRecorded(rec, &st) {
		n.appendOld(rec)
		w.files++
		return nil
	}
	n.own(at)
	return w.visitWithStat(n, name, rec, st, err)
}
