package protocol

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"reflect"
	"sync"

	"github.com/seed-fb9cbc17/cairn"
)

// Version is the version of the protocol. Other versions are not understood.
const Version = 1

// SettingsHeader is the header with the caller's settings. A server with other settings
// answers 412 before it reads the body.
const SettingsHeader = "Cairn-Settings"

// OperationHeader is the header with a token that the caller has drawn for the operation of the request: 8 hex
// digits. The record of the operation has it, so that the caller finds it where the answer is lost.
const OperationHeader = "Cairn-Operation"

// mountsOf names the mount namespace of this process, "" where a system has none. In another namespace the
// path of the root may lead to other files.
var mountsOf = sync.OnceValue(func() string {
	name, _ := os.Readlink("/proc/self/ns/mnt")
	return name
})

// Settings returns a hash over everything on which an answer depends: the build, the
// mount namespace, the root, the data directory and the options of the library, except those for progress,
// waiting and watching, and the names for other machines, which few commands look up. It reads the options by reflection, so new ones count without a
// change here.
func Settings(build string, opt cairn.Options) string {
	opt.Logger, opt.Progress, opt.Command = nil, nil, ""
	opt.Machine, opt.User = "", ""
	opt.MustExist, opt.Workers, opt.LockTimeout, opt.Watch = false, 0, 0, false
	text := fmt.Appendf(nil, "%d %q %q", Version, build, mountsOf())
	all := reflect.ValueOf(opt)
	for i := range all.NumField() {
		f := all.Field(i)
		if f.Kind() == reflect.Pointer && !f.IsNil() {
			f = f.Elem() // the value counts, not its address
		}
		if f.Kind() != reflect.Func {
			text = fmt.Appendf(text, " %s=%#v", all.Type().Field(i).Name, f.Interface())
		}
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}
