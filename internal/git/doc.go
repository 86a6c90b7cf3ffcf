// Package git knows the user's git repository and the git program.
//
// The first half reads: where the repository of a directory lies ([Find]), which
// ignore settings its configuration makes ([Repo.IgnoreSettings]), and what its
// index lists ([ReadIndex]). It needs no git program, consults no environment,
// writes nothing, and takes every file it opens for hostile: sizes are limited,
// FIFOs and devices are not opened, malformed input is an error that names the file.
//
// The second half is the only place that starts git ([Binary]), for cold work on
// cairn's own store.
//
// The formats follow git-config(1), gitrepository-layout(5), gitformat-index(5)
// and what the program does when asked; the tests ask it. Attributes are never
// consulted: a capture holds the bytes on disk.
package git
