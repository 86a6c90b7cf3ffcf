// Package identity says what a project is known by on every machine: an id that its user gave, or
// the root commit of the user's git repository and the path within its work tree. A project without
// either is known by its path.
//
// Invariants:
//
//   - Nothing here writes, and no git program runs: objects are read from the repository's files.
//   - The URL of a remote is no part of an identity. Clones and forks of a repository share its root
//     commit and are one project.
package identity
