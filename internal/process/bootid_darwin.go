package process

import "golang.org/x/sys/unix"

// bootID names the present boot of this machine.
func bootID() string {
	id, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return ""
	}
	return id
}
