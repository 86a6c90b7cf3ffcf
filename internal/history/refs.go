package history

// Names of an unfinished operation.
const (
	// JournalName is the name of the operation journal in the store.
	JournalName = "operation"

	// RefBefore keeps the state before an unfinished operation alive.
	RefBefore = RefRoot + "before"
)

// Wanted returns the checkpoint of the state that a revert was to reach.
func Wanted(e *LineEvent) string {
	if e.Wanted != "" {
		return e.Wanted
	}
	return e.ID
}

// RefLost is the prefix of refs that keep the older parts of lines that a repair has cut at a lost
// checkpoint. The rest of the ref is the name of the line.
const RefLost = RefRoot + "lost/"

// RefSignatures is the prefix of refs that lead to signed statements. The rest of the ref is the name of
// the line below refs/cairn/ that a statement is about.
const RefSignatures = RefRoot + "signatures/"
