// Package goback is what commands share that change files of a root: a plan first, questions, and the
// result.
//
// A plan that --dry-run lists has an id. With --plan a command does what that plan says, or nothing.
// Whether a plan is carried out is asked only where a person can answer on the terminal. A result
// that leaves something out is printed whole, and the command ends with cli.ErrPartly.
package goback

import "github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"

// Dialog is a run of the program that shows plans, asks about them and prints results.
type Dialog struct{ *cli.Program }
