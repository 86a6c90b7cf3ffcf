// Package store has the commands that make room, measure stores, and take paths out of a history.
//
// A cleaning in the background says nothing. No other command waits for it.
package store
