// Package look has the commands that tell about checkpoints, and about the root beside them.
//
// None of them changes a file of the root. Two run a command and note its result: cairn test takes a
// checkpoint and runs it in the root, cairn bisect runs it in a scratch copy. Text for people has the
// colours of git, and JSON has none.
package look
