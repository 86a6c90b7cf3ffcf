// Package relay hands a call of a hook over to a running server, before the rest of the program is initialized.
//
// An agent waits for each call of cairn hook. Most of a short call is the start of the program: what its packages do
// before main. Go initializes a package as soon as those that it imports are initialized, in the order of their
// paths. This one imports next to nothing, so its init comes before the packages of the server, of the terminal and
// of the formats. It sends the call to the server's socket, prints the answer and ends the process.
//
// Where anything is unusual (no server, an argument that is not known, a server of another build, a typed command)
// the process goes on as if the package were not there, with the payload on stdin. An event that the server may
// have applied before it died is then applied once more, which changes nothing: events may be repeated.
package relay
