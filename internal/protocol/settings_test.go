package protocol

import (
	"reflect"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn"
)

// filled returns an Options with a value in every field, a new one at each call.
func filled(t *testing.T) cairn.Options {
	t.Helper()
	var opt cairn.Options
	all := reflect.ValueOf(&opt).Elem()
	for i := range all.NumField() {
		f := all.Field(i)
		switch f.Kind() {
		case reflect.String:
			f.SetString("text")
		case reflect.Int, reflect.Int64:
			f.SetInt(7)
		case reflect.Bool:
			f.SetBool(true)
		case reflect.Slice:
			f.Set(reflect.ValueOf([]string{"a", "b"}).Convert(f.Type()))
		case reflect.Pointer:
			f.Set(reflect.New(f.Type().Elem()))
		}
	}
	return opt
}

// TestSettings: equal settings are told to be equal wherever they lie in memory, and
// what decides about an answer makes them differ.
func TestSettings(t *testing.T) {
	t.Parallel()
	same := Settings("b", filled(t))
	if again := Settings("b", filled(t)); again != same {
		t.Error("equal settings are told to differ")
	}
	other := filled(t)
	other.Command, other.LockTimeout, other.Workers, other.MustExist, other.Watch = "another", time.Hour, 1, false, false
	if Settings("b", other) != same {
		t.Error("what only says who is told, or how long to wait, counts")
	}
	if Settings("c", filled(t)) == same {
		t.Error("another build is taken for the same")
	}
	for name, change := range map[string]func(*cairn.Options){
		"Root": func(o *cairn.Options) { o.Root = "x" }, "DataDir": func(o *cairn.Options) { o.DataDir = "x" },
		"MaxFileSize": func(o *cairn.Options) { o.MaxFileSize++ }, "Include": func(o *cairn.Options) { o.Include = []string{"a b"} },
		"Never": func(o *cairn.Options) { o.Never = nil }, "Home": func(o *cairn.Options) { o.Home = "" },
		"Force": func(o *cairn.Options) { o.Force = false }, "Retention": func(o *cairn.Options) { o.Retention = &cairn.Retention{KeepLast: 3} },
	} {
		opt := filled(t)
		change(&opt)
		if Settings("b", opt) == same {
			t.Errorf("%s does not count", name)
		}
	}
}
