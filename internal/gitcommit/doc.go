// Package gitcommit works out what a commit of an agent's turns has to contain: the changes of the
// turns, merged three-way onto what HEAD has. The user's own lines are in neither side of a merge's
// difference, so they stay out.
package gitcommit
