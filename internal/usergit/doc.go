// Package usergit runs git in the user's own repository, for the two commands that are asked to write
// there: one makes commits, the other one links a work tree. Unlike package git it passes on the
// environment of the user: identity, signing, hooks and filters are the user's. It drops the
// variables that would name another repository.
//
// Everything that a commit needs is made in a Scratch first: a directory with an object store and
// index files of its own, beside which the repository is only read.
package usergit
