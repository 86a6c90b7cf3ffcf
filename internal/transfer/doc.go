// Package transfer moves checkpoints between stores: as bundles, and to and from git
// remotes.
//
// Invariants:
//
//   - Incoming objects are checked one by one in a quarantine beside the store, before the
//     first of them becomes visible. One bad line refuses the whole fetch.
//   - A push deletes nothing and forces only pins.
//   - Lines of other stores live under their own refs and never become the newest
//     checkpoint of this one.
package transfer
