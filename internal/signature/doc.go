// Package signature keeps signed statements about a store beside its lines: that a line had a head at a
// time, and that a purge or a repair gave checkpoints new ids.
//
// Statements about one line are a list, the oldest first. Each has a number and the hash of the one
// before it. A list is a blob of JSON, one statement a line, to which refs/cairn/signatures/<line> leads.
//
// Invariants:
//
//   - A statement is appended in one change of a ref.
//   - A text that Parse accepts is the text that the statement has.
//   - A statement names ids, a line, a time and a count. It holds no path and no content.
package signature
