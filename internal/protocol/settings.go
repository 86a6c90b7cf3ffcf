package protocol

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/seed-fb9cbc17/cairn"
)

// Version of what is said over the socket. Another one is another language.
const Version = 1

// SettingsHeader carries the settings of the caller. A server with others answers
// 412 before it reads the body.
const SettingsHeader = "Cairn-Settings"

// Settings stands for everything that decides what an answer is: the build, the root,
// the data directory and every option of the library but those that only say who is
// told how far it is.
func Settings(build string, opt cairn.Options) string {
	opt.Logger, opt.Progress, opt.Command = nil, nil, ""
	opt.MustExist, opt.Workers, opt.LockTimeout = false, 0, 0
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %q %#v", Version, build, opt))
	return hex.EncodeToString(sum[:16])
}
