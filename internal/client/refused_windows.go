package client

import "syscall"

// refused is the error of a socket on which no process listens: WSAECONNREFUSED. The constant of package syscall is
// a number that Windows never returns.
const refused = syscall.Errno(10061)
