//go:build !linux

package pack

import "os"

// beginWriting does nothing: other systems have no such hint, or write early anyway.
func beginWriting(*os.File, int64, int64) {}
