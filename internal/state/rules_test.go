package state

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// Comments, blank lines and a byte order mark are no rules; blanks and escapes are.
func TestLinesOf(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                            "",
		"# comment\n\n*.o\r\n\r\n":    "*.o\r\n",
		"\ufeff*.o\n":                 "*.o\n",
		"a\\ \n  b\n":                 "a\\ \n  b\n",
		"last":                        "last",
		"\\#name\n#":                  "\\#name\n",
		"\ufeff# only a comment\nx\n": "x\n",
	} {
		if got, ok := LinesOf([]byte(text)); !ok || string(got) != want {
			t.Errorf("%q: %q, %v, want %q", text, got, ok, want)
		}
	}
	if _, ok := LinesOf([]byte("a\x00b\n")); ok {
		t.Error("a text with a NUL can be recorded")
	}
}

func textID(text string) object.ID { return object.Sum(object.Blob, []byte(text)) }

// A text is recorded once with all its directories. Directories whose text is missing or too
// large have unknown rules.
func TestRulesRecord(t *testing.T) {
	t.Parallel()
	huge := RuleLines(strings.Repeat("x", MaxRuleText+1))
	b := &RulesBeside{
		Texts:     map[string]RuleLines{textID("1").String(): "*.o\n", textID("2").String(): "*.o\n", textID("3").String(): "b\n", textID("4").String(): huge},
		Misjudged: []string{"m", "gone"},
	}
	got := b.Record([]DirOfRules{{"", textID("1")}, {"d", textID("2")}, {"e", textID("3")}, {"large", textID("4")}, {"gone", textID("5")}})
	want := &ruleRecord{
		Texts:   []ruleText{{"*.o\n", []Path{"", "d"}}, {"b\n", []Path{"e"}}},
		Unknown: []Path{"gone", "large", "m"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// The texts of one checkpoint have a limit together; a text that is known costs nothing more.
func TestRulesRecordHasALimit(t *testing.T) {
	t.Parallel()
	b := &RulesBeside{Texts: make(map[string]RuleLines)}
	var dirs []DirOfRules
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		b.Texts[textID(name).String()] = RuleLines(strings.Repeat(name, MaxRuleText))
		dirs = append(dirs, DirOfRules{name, textID(name)})
	}
	dirs = append(dirs, DirOfRules{"again", textID("a")})
	got := b.Record(dirs)
	if len(got.Texts) != maxRuleTexts/MaxRuleText || !slices.Equal(got.Texts[0].In, []Path{"a", "again"}) || !slices.Equal(got.Unknown, []Path{"e"}) {
		t.Errorf("%d texts, the first of %q, unknown %q", len(got.Texts), got.Texts[0].In, got.Unknown)
	}
}

// Without the text of a rule file, its directory has unknown rules: the ignored paths below it
// must not count as absent.
func TestRulesWithoutPaths(t *testing.T) {
	t.Parallel()
	r := &ruleRecord{Texts: []ruleText{{"*.o\n", []Path{"", "d"}}, {"b\n", []Path{"d/e"}}}, Unknown: []Path{"u"}}
	got, gone := r.WithoutPaths(NewPathScope([]string{"d"}))
	want := &ruleRecord{Texts: []ruleText{{"*.o\n", []Path{""}}}, Unknown: []Path{"d", "d/e", "u"}}
	if !reflect.DeepEqual(got, want) || !slices.Equal(gone, []string{"d/.gitignore", "d/e/.gitignore"}) {
		t.Errorf("%+v, %q, want %+v", got, gone, want)
	}
	if len(r.Texts) != 2 || !slices.Equal(r.Texts[0].In, []Path{"", "d"}) {
		t.Errorf("the record itself has become %+v", r)
	}
	var none *ruleRecord
	if got, gone := none.WithoutPaths(NewPathScope(nil)); got != nil || gone != nil {
		t.Errorf("no record becomes %+v, %q", got, gone)
	}
	for dir := range none.Dirs {
		t.Errorf("no record names %q", dir)
	}
	if dirs := slices.Sorted(r.Dirs); !slices.Equal(dirs, []string{"", "d", "d/e", "u"}) {
		t.Errorf("directories %q", dirs)
	}
}

// The rules of a checkpoint judge as the files did: those above the root apply below it, by
// their own directories.
func TestIgnoreContextChain(t *testing.T) {
	t.Parallel()
	c := &IgnoreContext{
		Sources: []RuleLines{"*.tmp\n"},
		Parents: []RuleLines{"/sub/root/anchored\n*.log\n", "root/here\n"},
		Prefix:  "sub/root/",
	}
	chain := c.Chain()
	for path, want := range map[string]bool{
		"sub/root/x.tmp": true, "sub/root/x.log": true, "sub/root/anchored": true, "sub/root/here": true,
		"sub/root/d/here": false, "sub/root/x": false,
	} {
		if got := chain.Covers(path, false); got != want {
			t.Errorf("%s is ignored: %v, want %v", path, got, want)
		}
	}
	folded := IgnoreContext{Sources: []RuleLines{"NAME\n"}, FoldCase: true}
	if !folded.Chain().Covers("name", false) {
		t.Error("case counts although it should not")
	}
}
