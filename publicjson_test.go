package cairn_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// strangePath holds a byte that is not UTF-8 and one that JSON has to escape.
const strangePath = "a\xff/\"\u00e9"

// fill puts something into every exported field of a value. Paths get bytes that are
// not UTF-8.
func fill(v reflect.Value, name string) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), name)
	case reflect.Struct:
		fillStruct(v)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(v.Index(i), name)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf(strangePath).Convert(v.Type().Key()), reflect.ValueOf(errors.New("why")))
	case reflect.String:
		v.SetString(textFor(name, v.Type()))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Uint16:
		v.SetUint(0o640)
	case reflect.Uint32:
		v.SetUint(0o100755)
	default:
		panic(fmt.Sprintf("%s: no value for a %s", name, v.Type()))
	}
}

func fillStruct(v reflect.Value) {
	if v.Type() == reflect.TypeFor[time.Time]() {
		v.Set(reflect.ValueOf(time.Unix(1_700_000_000, 123).UTC()))
		return
	}
	for i := range v.NumField() {
		if f := v.Type().Field(i); f.IsExported() {
			fill(v.Field(i), f.Name)
		}
	}
}

func textFor(field string, t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[cairn.Path](), field == "Path", field == "Paths", field == "File", field == "Files", field == "Restored", field == "Deleted":
		return strangePath
	case t == reflect.TypeFor[cairn.Extent]():
		return string(cairn.ExtentPaths)
	case field == "OldID", field == "NewID":
		return "0123456789abcdef0123456789abcdef01234567"
	}
	return "text of " + field
}

// roundTrip gives back what the JSON of a value holds, as a value of the same type.
func roundTrip(t *testing.T, in any) any {
	t.Helper()
	data, err := json.Marshal(in)
	if err != nil {
		t.Fatalf("%T: %v", in, err)
	}
	out := reflect.New(reflect.TypeOf(in))
	if err := json.Unmarshal(data, out.Interface()); err != nil {
		t.Fatalf("%T: %v in %s", in, err, data)
	}
	return out.Elem().Interface()
}

// TestPublicResultsSurviveTheirJSON: what a caller decodes is what the library encoded,
// in every exported field.
func TestPublicResultsSurviveTheirJSON(t *testing.T) {
	t.Parallel()
	for _, empty := range append(publicResults, cairn.Progress{}) {
		in := reflect.New(reflect.TypeOf(empty)).Elem()
		fillFields(in)
		if got := roundTrip(t, in.Interface()); !reflect.DeepEqual(got, in.Interface()) {
			t.Errorf("%T:\ngot  %+v\nwant %+v", empty, got, in.Interface())
		}
		roundTrip(t, empty)
	}
}

var publicResults = []any{
	cairn.TrackResult{}, cairn.Checkpoint{}, cairn.Change{}, cairn.FileDiff{}, cairn.Result{}, cairn.PathReason{}, cairn.PlannedChange{},
	cairn.Patch{}, cairn.SkippedPath{}, cairn.Operation{}, cairn.TreeEntry{}, cairn.Usage{}, cairn.Fault{}, cairn.CleanResult{}, cairn.PurgeResult{},
	cairn.Pin{}, cairn.Comparison{}, cairn.WatchState{}, cairn.Limits{}, cairn.StoreInfo{},
}

// TestV64_KeysOfResults: docs/json.md lists the keys of all public results.
func TestV64_KeysOfResults(t *testing.T) {
	t.Parallel()
	words := gittest.ReadWords(t, ".")
	for _, empty := range publicResults {
		in := reflect.New(reflect.TypeOf(empty)).Elem()
		fillFields(in)
		data, err := json.Marshal(in.Interface())
		if err != nil {
			t.Fatal(err)
		}
		words.Check(t, fmt.Sprintf("%T", empty), data)
	}
}

// fillFields is fill, but for errors, which only StoreInfo and Cleaned have.
func fillFields(v reflect.Value) {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		switch {
		case !f.IsExported():
		case f.Type == reflect.TypeFor[*cairn.Cause]():
			v.Field(i).Set(reflect.ValueOf(&cairn.Cause{Err: errors.New("why")}))
		case f.Type == reflect.TypeFor[error]():
			v.Field(i).Set(reflect.ValueOf(errors.New("why")))
		case v.Type() == reflect.TypeFor[cairn.StoreInfo]() && f.Type.Kind() == reflect.String:
			v.Field(i).SetString("/" + strangePath)
		default:
			fill(v.Field(i), f.Name)
		}
	}
}

// TestResultOfARunHasNoPlan: only a dry run has a plan in JSON, even if it is empty.
func TestResultOfARunHasNoPlan(t *testing.T) {
	t.Parallel()
	if got := roundTrip(t, cairn.Result{DryRun: true, Plan: []cairn.PlannedChange{}}).(cairn.Result); !got.DryRun {
		t.Error("an empty plan is not taken for a dry run")
	}
	if got := roundTrip(t, cairn.Result{Restored: []string{"a"}}).(cairn.Result); got.DryRun || got.Plan != nil {
		t.Errorf("a run is taken for a dry run: %+v", got)
	}
}

// TestChangeMeansItsFields: a change that was rebuilt from its exported fields prints the
// same diff as the one that it was taken from.
func TestChangeMeansItsFields(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"changed": gittest.File("1\n"), "gone": gittest.File("2\n"), "link": gittest.File("3\n"), "tool": gittest.File("4\n")})
	from := f.trackAll()
	f.write("changed", "one\n")
	f.write("new", "5\n")
	f.remove("gone")
	f.remove("link")
	if err := os.Symlink("target", f.path("link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(f.path("tool"), 0o755); err != nil {
		t.Fatal(err)
	}
	r := f.repo()
	to := f.trackAll()
	list, err := r.Changes(background, from, to)
	if err != nil || len(list) != 5 {
		t.Fatalf("%+v, %v", list, err)
	}
	var copies []cairn.Change
	for _, c := range list {
		copies = append(copies, cairn.Change{
			Path: c.Path, Status: c.Status, OldMode: c.OldMode, NewMode: c.NewMode, OldPerm: c.OldPerm, NewPerm: c.NewPerm, OldID: c.OldID, NewID: c.NewID,
		})
		if a, b := c.Letter(), copies[len(copies)-1].Letter(); a != b {
			t.Errorf("%s: letter %s, of the copy %s", c.Path, a, b)
		}
	}
	if a, b := diffOf(t, r, list), diffOf(t, r, copies); a != b || a == "" {
		t.Errorf("diff\n%s\nof the copies\n%s", a, b)
	}
}

func diffOf(t *testing.T, r *cairn.Repo, list []cairn.Change) string {
	t.Helper()
	var text strings.Builder
	if err := r.WriteDiff(background, &text, list, cairn.DiffOptions{}); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// TestChangeOfACaller: a change with an unusable id, or of a file that is on neither
// side, is an error that names the path.
func TestChangeOfACaller(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1")})
	f.trackAll()
	for _, c := range []cairn.Change{{Path: "odd"}, {Path: "odd", NewMode: uint32(object.Regular), NewID: "x"}, {Path: "odd", OldMode: uint32(object.Regular)}} {
		var text strings.Builder
		if err := f.repo().WriteDiff(background, &text, []cairn.Change{c}, cairn.DiffOptions{}); err == nil || !strings.Contains(err.Error(), "odd") {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// TestCheckpointFromElsewhere: a checkpoint that no Repo gave out has no contents to
// look into, which is an error and no panic.
func TestCheckpointFromElsewhere(t *testing.T) {
	t.Parallel()
	c := &cairn.Checkpoint{ID: "x"}
	_, err := c.Skipped()
	assertError(t, err, cairn.ErrNotFound)
	_, err = c.Extent()
	assertError(t, err, cairn.ErrNotFound)
	_, err = c.Seen()
	assertError(t, err, cairn.ErrNotFound)
}
