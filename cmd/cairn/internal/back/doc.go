// Package back has the commands that take changes back: restore, revert, undo and redo.
//
// Each takes a checkpoint of what it is about to change, so that undo finds it. undo and redo choose between the
// last turn of an agent and the last operation; where several could be meant, they ask or say which one counts.
package back
