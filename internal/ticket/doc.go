// Package ticket keeps work that was begun for somebody who does not wait for it.
//
// A ticket is made in a moment, without a look at the files: it says what is to be
// done and is handed to whoever asked. Then one of several does the work, whoever
// comes first: a process started for it, a server, or the one who comes back for the
// answer. A kernel lock makes sure that only one of them is at it. It goes when its
// holder dies, and then the next one who asks does the work: there is always an
// answer, and it is always that of work that was really done. The answer stays, for
// everybody who asks again, until [Book.Sweep] takes it away after [Kept].
//
// What lies in the directory tickets of the data directory (0700, files 0600), the id
// being a letter and digits that begin with the time:
//
//	<id>.json    the request, written once, before anybody knows the id
//	<id>.lock    the lock, until there is an answer
//	<id>.begun   somebody has begun, and has perhaps died; also until then
//	<id>.answer  the answer, replaced all at once
//
// Nothing of it is flushed to the disk. After a loss of power a ticket may be gone or
// be asked for once more; the checkpoints themselves lie in the store.
package ticket
