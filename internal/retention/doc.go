// Package retention decides which units of a store live, and drops the rest.
//
// A unit lives or dies as a whole: a checkpoint of a day's line, a step of a session, an
// operation, an import. Age, count and size decide, oldest first. Pins and the newest
// KeepLast units never go.
//
// Invariants:
//
//   - Refs and the ends of lines change before objects go, so the store is sound
//     after each step.
//   - A cleaning holds the lock for moments only. A waiting capture gets it first.
//   - A store that cannot be read as a whole loses no object.
package retention
