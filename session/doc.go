// Package session records what an agent does in a directory as sessions of messages
// and steps, and takes it back again without taking anybody else's work.
//
// # Steps
//
// A step is what happens between two captures of the root: BeginStep takes the state
// before the agent's tools run, EndStep the state after. Whatever changed in between
// is the step's, be it by an edit tool, a shell command or a formatter; what is found
// changed when the next step begins is the user's. The answer of EndStep lists the
// changed files as a patch. Tools of one step may run in parallel: the step is the
// unit.
//
// Steps belong to messages, and messages to a session. All ids are the host's: any
// text of up to MaxID bytes. The same begin or end twice is one, so that hosts whose
// events come twice need not care. A step that is still open is ended by the next one
// of its session, or by RevertOptions.EndOpen.
//
// A step lives as long as its owner (see Owner): a process, or a lease where no process
// can be seen. A step whose owner is gone counts as ended with the last state that was
// captured in it, for all who read. What came later is the user's. The owner of a step
// is the calling process unless StepBegin names another one.
//
// BeginStepAsync captures the state before while the host does something else, as
// waiting for the model. A tool that may write waits for it first.
//
// # Back and forth
//
// Revert takes back all steps from a message on. The messages stay, hidden behind a
// boundary that Session.Revert names; reverting again moves the boundary in either
// direction, and Unrevert takes it away. UndoStep and RedoStep go turn by turn. When
// the session goes on, by BeginStep, AddMessage or Commit, what is behind the boundary
// leaves the session for good. The files can still be had back then: every revert is
// an operation of the repository, which Repo.Undo takes back. The boundary follows
// what Repo.Undo and Repo.Redo do to it.
//
// The state before the first revert is kept, and every boundary is worked out from it:
// the steps behind the boundary are taken out of it, the newest first. So a boundary
// stands for one state, however it was reached. Where somebody wrote between two
// steps, or after them, each step is taken out by a three-way merge of its own; where
// that is not clean, the path stays as it is from there on and is listed as a conflict
// (or as RevertOptions.OnConflict says). On disk only paths are touched that a step
// behind the old or the new boundary changed, and what was written there since the
// last move is merged once more. Everything that is overwritten or deleted is saved
// first.
//
// # Who did what
//
// Captures see that a path changed, not who changed it. Inside a step everything
// is the step's, with these exceptions, which Revert keeps and lists:
//
//   - what a restore, revert or undo changed meanwhile
//   - what a step of another session that overlaps it names as its own: paths given
//     to BeginStep, Hint or EndStep belong to the session that gave them
//   - what such a step changed as well without naming it is shared, and a conflict
//
// A session may have a parent, whose sub-agent it is. It is reverted with the message,
// and step, of the parent in which it began, whenever its own steps ran; parent and
// child never keep each other's work.
//
// An ignored file is in no capture, but one that a step names is. If it was named
// before it was changed, it is reverted like any other.
//
// # What lies where
//
// A session is a line of commits in the store, refs/cairn/sessions/<encoded id> (see
// cairn.LineRef): every event is a commit, or several are, its tree the state at that
// moment, its author the agent for what a step changed and the user for what was found
// changed between, its record in a commit header. git log -p on the line shows what
// each step changed. Lines are pushed, fetched, verified and cleaned away like all
// others. Files and line move together: whoever is killed in the middle, the next
// command that changes the store brings both to the state before or both to the one
// after.
//
// # What is not promised
//
// A user's edit inside a step that names its paths is still the step's if the step does
// not overlap another session's. Times come from the clock: where it jumps backward,
// steps of different sessions may seem not to overlap. What an agent wrote between the
// last capture and its end by a signal counts as the user's.
package session
