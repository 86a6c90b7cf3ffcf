// Package record has the commands that take checkpoints, keep sessions of agents' turns, and name and commit
// what was kept.
//
// Without --json, cairn track and cairn session step begin print an id or a ticket on stdout, and nothing else.
// With --async they look at neither files nor store, and cairn wait gives the answer later.
package record
