package process

import (
	"os"
	"strings"
)

// bootID names the present boot of this machine; containers on it share it.
func bootID() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(id))
}
