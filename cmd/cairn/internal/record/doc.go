// Package record has the commands that take checkpoints, keep sessions of agents' turns, and name, review and
// commit what was kept.
//
// cairn track and cairn session step begin print one id or ticket on stdout, and nothing else. With --async
// they look at neither files nor store, and cairn wait prints the same answer later.
package record
