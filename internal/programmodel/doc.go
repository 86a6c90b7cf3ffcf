// Package programmodel drives the built cairn program through random histories and
// judges each answer by a listing of the disk that it takes itself.
//
// All of it is tests. A history is a seed and the numbers of its steps. Each step has
// a generator of its own, so a history replays with some of its steps left out, and
// a failing one is shortened that way. CONTRIBUTING.md has the variables.
package programmodel
