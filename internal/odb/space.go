package odb

// FreeSpace returns how many bytes the disk of the store has left for its owner.
func (db *DB) FreeSpace() (int64, error) { return freeSpace(db.dir) }
