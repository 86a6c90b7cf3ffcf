// Package ticket keeps work in the background, and its answers.
//
// Making a ticket takes a moment and no look at the files: the ticket records a request,
// and its id goes back to the caller. The first process that comes does the work: one
// that the caller starts, a server, or the process that asks for the answer. A kernel
// lock keeps all others out. The kernel releases the lock when its holder dies, and the
// next process that asks does the work. So there is always an answer, and always to work
// that was done. The answer stays until [Book.Sweep] removes it, after [Kept].
//
// The tickets lie in the directory tickets of the data directory (0700, files 0600). An
// id is a letter and digits that begin with the time:
//
//	<id>.json    the request, written once, before any process knows the id
//	<id>.lock    the lock, until there is an answer
//	<id>.begun   work has begun; its process may have died since; until there is an answer
//	<id>.answer  the answer, replaced as a whole
//
// None of these files is flushed to the disk. After a loss of power a ticket may be gone,
// or its work may be done twice. The checkpoints lie in the store.
package ticket
