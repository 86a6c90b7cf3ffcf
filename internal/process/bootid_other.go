//go:build !linux && !darwin

package process

// bootID is empty where the system has no name for a boot; the host's name then
// decides alone.
func bootID() string { return "" }
