package hooks

import "testing"

// TestTheSamePromptAgain: a prompt with the text of the running turn, which waits for its end, is a turn of its own.
func TestTheSamePromptAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Claude, aTree())
	w.prompt("s", "1", "go on")
	w.toolOf("1", "c1", "one")
	w.prompt("s", "1", "go on")
	w.stops("1")
	after := w.manifest()
	w.toolOf("2", "c2", "two")
	w.stops("2")
	w.answers("cairn undo", "took back 1 turn: 1 deleted\ndeleted two\n")
	w.isAs(after, "after undo")
	w.noFailures()
}

// TestATurnGoesOnAfterAPromptThatItTookIn: a command in the background comes back, and Claude Code tells of that with
// a prompt of its own, which has a new id.
func TestATurnGoesOnAfterAPromptThatItTookIn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Claude, aTree())
	before := w.manifest()
	w.prompt("s", "1", "make one")
	w.toolBegins("1", "c1")
	w.write("one", "x\n")
	w.prompt("s", "1", "and two")
	w.toolEnds("1", "c1")
	w.stops("1")
	w.tell("UserPromptSubmit", "s", map[string]any{"prompt": "<task-notification>\ndone", "prompt_id": "2"})
	w.toolOf("2", "c2", "two")
	w.stops("2")
	w.answers("cairn undo", "took back 1 turn: 2 deleted", `"make one"`)
	w.isAs(before, "after undo")
	w.noFailures()
}

// TestAWaitingPromptBeginsWithASubAgent: the turn of a prompt that waited has no tool of its own but one of a sub-agent.
func TestAWaitingPromptBeginsWithASubAgent(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Claude, aTree())
	w.prompt("s", "1", "make one")
	w.toolOf("1", "c1", "one")
	w.prompt("s", "1", "make two")
	w.stops("1")
	after := w.manifest()
	w.delegates("2", "a1", "two")
	w.stops("2")
	w.answers("cairn undo", "took back 1 turn: 1 deleted\ndeleted two\n", `"make two"`)
	w.isAs(after, "after undo")
	w.noFailures()
}

// TestATurnWithoutAPrompt: Claude Code asks the model after a line for the shell ("! command"), and calls no hook for that.
func TestATurnWithoutAPrompt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Claude, aTree())
	before := w.manifest()
	w.oneTool("1", "1", "make one", "c1", "one")
	after := w.manifest()
	w.toolOf("2", "c2", "two")
	w.toolOf("2", "c3", "three")
	w.stops("2")
	w.answers("cairn undo", "took back 1 turn: 2 deleted")
	w.isAs(after, "after undo")
	w.prompted("s", "cairn undo")
	w.isAs(before, "after undo")
	w.noFailures()
}
