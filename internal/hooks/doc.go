// Package hooks turns what coding agents tell their hooks into calls of package
// session: which prompt began, which tool is about to run and names which files,
// when a step and a turn are over, which sub-agents belong to whom.
//
// It sits between two programs that must not suffer from each other. The agent is
// never blocked, slowed down beyond a deadline or confused by output: whatever goes
// wrong is logged, counted and shown by cairn doctor, and the agent goes on
// unprotected for that step. The checkpoints on the other side never claim to be
// what they are not: a step that could not be captured is a missing step.
//
// An agent waits as little as can be: the captures at a prompt and after a tool run in a background process, or
// in the server, and the next tool that may write waits for them; see overlap.go.
//
// Claude Code, Codex, Gemini CLI, Qwen Code, Copilot CLI and Droid are spoken to in the
// JSON of their own hooks (payload.go), into which that of Cline, Cursor, Goose and Crush
// is translated (dialects.go). Every other agent uses the neutral protocol.
//
// # The neutral protocol
//
// One call of cairn hook AGENT is one event: a JSON object on stdin, and one line of
// JSON on stdout. The exit status is always 0. Names that are not known are ignored
// in both directions.
//
//	{"event": "session",  "cwd", "session", "parent"?, "title"?, "model"?}
//	{"event": "news",     "cwd", "session"}
//	{"event": "prompt",   "cwd", "session", "message", "prompt"?, "model"?, "final"?, "told"?}
//	{"event": "before",   "cwd", "session", "message"?, "call"?, "tool"?, "input"?, "paths"?, "model"?}
//	{"event": "after",    "cwd", "session", "message"?, "call"?, "tool"?, "input"?, "paths"?}
//	{"event": "did",      "cwd", "session", "message"?, "call"?, "tool"?, "input"?, "model"?}
//	{"event": "stop",     "cwd", "session", "running"?: ["id", ...]}
//	{"event": "end",      "cwd", "session"}
//	{"event": "undo",     "cwd", "session", "count"?, "dryRun"?, "outside"?}
//	{"event": "redo",     "cwd", "session", "count"?, "dryRun"?, "outside"?}
//	{"event": "log",      "cwd", "session"}
//	{"event": "status",   "cwd", "session"}
//	{"event": "typed",    "cwd", "session", "prompt"}
//	{"event": "diff",     "cwd", "session", "count"?}
//	{"event": "revert",   "cwd", "session", "message", "part"?, "start"?, "dryRun"?, "outside"?}
//	{"event": "unrevert", "cwd", "session", "dryRun"?, "outside"?}
//	{"event": "fork",     "cwd", "session", "message"?, "newSession"}
//
// "cwd" is an absolute path in the project. Every event may have "directories", absolute paths of
// other directories that the session works in: its turns are recorded there, too, and go back in all
// of them or in none. A "cwd" outside the project of the session counts as one. All ids are opaque texts of at most
// 1 KiB.
// "session" may come any number of times; "parent" makes it the session of a
// sub-agent, which is reverted together with its parent; all its events but "end" have it. "model" counts until another one is named.
// "message" is the user's
// message that a step answers; without it the session's last one is meant. "before"
// opens a step unless one is open, and "paths", absolute or from the root, are what
// the tool is going to change; where the tool has one of the usual names they are
// found in "input", too, where they count from "cwd". Of those outside the root, small files are saved
// before the tool runs, and "outside" brings them back. "after" closes the step once no call of it is running
// any more. "did" is for a tool that has run without a "before": its step has what changed since
// the newest event of the session that captured. "final" says that the tools of a turn may come so:
// the prompt then captures at once, and what was taken back before it can no longer be brought back
// by "redo". "count" is at least 1, which it is by default. "stop" closes the turn, unless
// sub-agents in "running" are still at work; "end" closes everything. Events may be missing: the next event closes
// an open step or turn.
// "typed" is a prompt before the model sees it. If it is a command such as "cairn undo 2" it
// is carried out, and the answer has "handled": true. Every event may have "patience",
// the milliseconds for which the adapter waits; a command takes no longer than that.
//
// The answer:
//
//	{"ok": true, "session", "message"?, "step"?, "before"?, "after"?, "hash"?, "text"?, "report"?, "result"?, "handled"?}
//	{"ok": false, "error": "what went wrong", "handled"?}
//
// A value of another type than expected is left out. A command with one is refused: without "dryRun" it would do
// what it was to show.
//
// "before" and "after" are the checkpoints of the step, "hash" is the tree of the
// newer of the two, as cairn restore takes it. "text" is for people. "report" is for the model, in
// the answer to a prompt or to "news", which captures nothing: what went back since the prompt before.
// It comes once. A prompt with "told" has asked with "news" before and is on its way to the model, so its answer
// has no report. "revert" and "unrevert" say that the
// agent has moved its conversation, too, so nothing is reported of them. "result" is what
// cairn restore --json prints: {"operation", "restored", "deleted", "kept",
// "conflicts", "notTakenBack"?}, and for a dry run also "plan" and "planID".
package hooks
