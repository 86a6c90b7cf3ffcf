package history

const (
	JournalName = "operation"

	// refBefore keeps the state before an unfinished operation alive.
	RefBefore = RefRoot + "before"
)

// Wanted is the checkpoint of what a revert was to bring about.
func Wanted(e *LineEvent) string {
	if e.Wanted != "" {
		return e.Wanted
	}
	return e.ID
}

// RefLost keeps the older parts of lines that were cut where a checkpoint was lost, by the
// names of the lines.
const RefLost = RefRoot + "lost/"
