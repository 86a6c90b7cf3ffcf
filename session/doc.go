// Package session records the work of an agent in a directory as sessions of messages and steps. It
// takes the work back without taking back the work of others.
//
// # Steps
//
// A step is the time between two captures of the root: BeginStep captures the state before the
// agent's tools run, EndStep the state after. Every change in between belongs to the step, whether
// an edit tool, a shell command or a formatter made it. A change that the beginning of the next
// step finds belongs to the user. The answer of EndStep lists the changed files as a patch. Tools
// of one step may run in parallel: the step is the unit.
//
// Steps belong to messages, and messages to a session. All ids are the host's: any text of up to
// MaxID bytes. A repeated begin or end has no effect, so a host may deliver its events twice. An
// open step is ended by the next step of its session, or by MoveOptions.EndOpen.
//
// A step lives as long as its owner (see Owner): a process, or a lease if the process cannot be
// observed. A step whose owner is gone counts as ended with the last state that was captured in it,
// for all readers. Later changes belong to the user. The owner of a step is the calling process
// unless StepBegin names another one.
//
// BeginStepAsync captures the state before the step while the host does other work, such as waiting
// for the model. A tool that may write waits for the capture.
//
// # Back and forth
//
// Revert takes back all steps from a message on. The messages stay, hidden behind a boundary that
// Session.Revert names. Reverting again moves the boundary in either direction, and Unrevert
// removes it. UndoTurn and RedoTurn move it turn by turn. When the session continues, by BeginStep,
// AddMessage or Commit, everything behind the boundary leaves the session for good. The files can
// still be restored then: every revert is an operation of the repository, which Repo.Undo takes
// back. The boundary follows Repo.Undo and Repo.Redo.
//
// The state before the first revert is kept, and every boundary is computed from it: the steps
// behind the boundary are removed from that state, the newest first. So a boundary always has the
// same state, however it was reached. If another writer changed a path between two steps, or after
// them, each step is removed by a three-way merge of its own. If the merge is not clean, the path
// keeps its state from there on and is listed as a conflict (or MoveOptions.OnConflict decides).
// On disk, only paths are touched that a step behind the old or the new boundary changed, and
// changes made there since the last move are merged again. Every file that is overwritten or
// deleted is saved first.
//
// RevertHunks takes single places of files back, in a turn, a step or the session, and moves no
// boundary. Such a hunk is a difference between the file after the last step and the same without
// the steps, so the changes of other writers between two steps are in none. RevertSteps takes chosen
// steps back and moves no boundary either.
//
// # Attribution
//
// Captures show that a path changed, not who changed it. Inside a step every change is the step's,
// with these exceptions, which Revert keeps and lists:
//
//   - changes by a restore, revert or undo during the step
//   - paths that an overlapping step of another session names as its own: paths given
//     to BeginStep, Hint or EndStep belong to the session that gave them
//   - paths that such a step changed as well without naming them are shared, and a conflict
//
// A session may have a parent, whose sub-agent it is. It is reverted with the message and step of
// the parent in which it began, at whatever time its own steps ran. Parent and child never keep
// each other's work.
//
// An ignored file is in no capture unless a step names it. If it was named before it was changed,
// it is reverted like any other file.
//
// # Storage
//
// A session is a line of commits in the store, under the ref refs/cairn/sessions/ and the id, whose
// unusual bytes are written as % and two hex digits. Every event is one commit or several. The tree
// is the state at that moment. The author is the agent for the changes of a step, and the user for
// changes found between steps. The record is in a commit header. git log -p on the ref shows the
// changes of each step. Lines are pushed, fetched, verified and cleaned away like all others. Files
// and line move together: if the process is killed in the middle, the next command that changes the
// store brings both to the state before or both to the state after.
//
// # No guarantees
//
// A user's edit inside a step that names its paths still belongs to the step if the step does not
// overlap another session's. Times come from the clock: if it jumps backward, steps of different
// sessions may seem not to overlap. Writes of an agent between the last capture and its end by a
// signal count as the user's.
package session
