package protocol

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"reflect"

	"github.com/seed-fb9cbc17/cairn"
)

// Version of what is said over the socket. Another one is another language.
const Version = 1

// SettingsHeader carries the settings of the caller. A server with others answers
// 412 before it reads the body.
const SettingsHeader = "Cairn-Settings"

// Settings stands for everything that decides what an answer is: the build, the root,
// the data directory and every option of the library but those that only say who is
// told how far it is, how long to wait and how to find what has changed. New options
// count by themselves.
func Settings(build string, opt cairn.Options) string {
	opt.Logger, opt.Progress, opt.Command = nil, nil, ""
	opt.MustExist, opt.Workers, opt.LockTimeout, opt.Watch = false, 0, 0, false
	text := fmt.Appendf(nil, "%d %q", Version, build)
	all := reflect.ValueOf(opt)
	for i := range all.NumField() {
		f := all.Field(i)
		if f.Kind() == reflect.Pointer && !f.IsNil() {
			f = f.Elem() // what it points to counts, not where that lies
		}
		if f.Kind() != reflect.Func {
			text = fmt.Appendf(text, " %s=%#v", all.Type().Field(i).Name, f.Interface())
		}
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}
