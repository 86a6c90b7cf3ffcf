package cairn_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// obscureWords matches wording that hides its subject: a person in place of a process or
// a path, a chain of relative clauses in place of a noun, an archaic idiom. The rule is one fact a
// sentence, subject first, present tense; the subject is a thing of the code.
var obscureWords = regexp.MustCompile(`(?i)\b(somebody|nobody|whoever|who has|that of those|of those that|be it|anew|lest|all the same)\b` +
	`|\bwhat is [^.:;!?]* is\b`)

// obscureIdioms matches further persons, archaic idioms, and sentences whose subject is a
// clause ("what lies there").
var obscureIdioms = regexp.MustCompile(`(?i)\b(everybody|anybody|hence|be had|put to|speaks? of|has to say|what became of|for want of|` +
	`what there is|upon|who had|to who|the one who)\b|[.:;] what (is|was|has|comes|lies|cannot|must)\b`)

// obscureAllowed is the number of matches that a file may still have. It only shrinks:
// a file with fewer matches than its number fails too.
var obscureAllowed = map[string]int{}

// TestPlainWords checks the comments of all Go files and the documents.
func TestPlainWords(t *testing.T) {
	t.Parallel()
	found := map[string][]string{}
	for _, file := range wordFiles(t) {
		for _, text := range proseOf(t, file) {
			found[file] = append(found[file], obscureWords.FindAllString(text, -1)...)
			found[file] = append(found[file], obscureIdioms.FindAllString(text, -1)...)
		}
	}
	for file, words := range found {
		if allowed := obscureAllowed[file]; len(words) > allowed {
			t.Errorf("%s: %d matches, %d allowed: %q\nsay it with one fact a sentence, subject first, the subject a thing of the code", file, len(words), allowed, words)
		}
	}
	for file, allowed := range obscureAllowed {
		if n := len(found[file]); n < allowed {
			t.Errorf("%s: %d matches; obscureAllowed has to follow, it says %d", file, n, allowed)
		}
	}
}

func TestObscureWords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"Nobody has the lock":               true,
		"the path of whoever wrote it":      true,
		"be it empty":                       true,
		"what is in the pack is counted":    true,
		"what is in the pack. This is true": false,
		"No process holds the lock":         false,
		"almost whole, at least":            false,
		"the lock of everybody who waits":   true,
		"rules are put to a path":           true,
		"No file. What lies deeper stays":   true,
		"this is what lies deeper":          false,
		"built upon another":                true,
		"each is put together":              false,
	} {
		if got := obscureWords.MatchString(text) || obscureIdioms.MatchString(text); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

// wordFiles lists the Go files of all modules, and the documents.
func wordFiles(t *testing.T) []string {
	t.Helper()
	files := documents(t)
	err := filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && slices.Contains([]string{".git", "node_modules", "testdata"}, entry.Name()):
			return filepath.SkipDir
		case strings.HasSuffix(name, ".go"):
			files = append(files, filepath.ToSlash(name))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// proseOf returns the comments of a Go file, or the paragraphs of a document, each as
// one line.
func proseOf(t *testing.T, file string) []string {
	t.Helper()
	var texts []string
	if strings.HasSuffix(file, ".go") {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, group := range parsed.Comments {
			texts = append(texts, oneLine(group))
		}
		return texts
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, paragraph := range strings.Split(string(raw), "\n\n") {
		texts = append(texts, strings.Join(strings.Fields(paragraph), " "))
	}
	return texts
}

// oneLine joins the lines of a comment without their markers.
func oneLine(group *ast.CommentGroup) string {
	var words []string
	for _, comment := range group.List {
		words = append(words, strings.Fields(strings.Trim(comment.Text, "/*"))...)
	}
	return strings.Join(words, " ")
}
