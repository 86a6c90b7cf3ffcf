// Package outside saves files outside the roots of a session that a tool names, and plans their way
// back.
//
// A record says how some paths were at one time, or before and after an operation. Its tree holds a list
// and the contents that are saved. A ref named by the tree's id leads to it. The checkpoint of a session
// or of an operation names its records in its header, and a cleaning keeps a record as long as such a
// checkpoint lives. Records belong to this machine: no push and no export has them.
//
// Invariants:
//
//   - Only regular files, symlinks and the absence of both are saved. Nothing else is opened.
//   - A path is looked at through handles of its directories, from the top of its file system on. No
//     handle follows a symlink.
//   - A path that may hold a secret is never saved, see [Secret]. A plan never touches a path that was
//     not saved.
//   - A plan saves what it replaces, or leaves the path alone.
package outside
