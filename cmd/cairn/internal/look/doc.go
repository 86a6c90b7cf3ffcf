// Package look has the commands that tell about checkpoints, and about the root beside them.
//
// None of them changes a file of the root or takes a checkpoint, but for cairn test, which notes a result, and
// cairn bisect, which works in a directory of its own. Text for people goes through the pager and has the
// colours of git; JSON has neither.
package look
