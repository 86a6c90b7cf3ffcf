package cairn_test

import (
	"bytes"
	"flag"
	"fmt"
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

var update = flag.Bool("update", false, "rewrite the lists of tests in docs/rows.md")

const rowsFile = "docs/rows.md"

var (
	// rowsOfName finds the numbers at the beginning of a test's name: R01, R101_R103.
	rowsOfName = regexp.MustCompile(`^(?:Test|Fuzz|Benchmark)((?:_?[RV]\d{2,3})+)`)
	rowNumber  = regexp.MustCompile(`[RV]\d{2,3}`)
	rowInText  = regexp.MustCompile(`\b[RV]\d{2,3}\b`)
	rowOfFile  = regexp.MustCompile(`^[rv]\d{2,3}_`)
	rowEntry   = regexp.MustCompile(`^- \*\*([RV]\d{2,3})\*\*`)
	nameInList = regexp.MustCompile("`([^`]+)`")
)

// TestRows (V71): docs/rows.md has every row that a test or a script names, and the tests
// and scripts of every row.
func TestRows(t *testing.T) {
	t.Parallel()
	named := rowsOfTests(t)
	was := textOf(t, rowsFile)
	listed := rowsListed(was)
	for row, names := range named {
		if _, ok := listed[row]; !ok {
			t.Errorf("%s lacks the row %s of %s", rowsFile, row, names)
		}
	}
	if *update {
		if err := os.WriteFile(rowsFile, []byte(withTests(was, named)), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	for row, names := range listed {
		if !slices.Equal(names, named[row]) {
			t.Errorf("%s lists %s of %s, there are %s: -update writes them anew", rowsFile, names, row, named[row])
		}
	}
}

// rowsOfTests returns the names of the tests and scripts of each row.
func rowsOfTests(t *testing.T) map[string][]string {
	found := make(map[string][]string)
	note := func(rows []string, name string) {
		for _, row := range rows {
			if !slices.Contains(found[row], name) {
				found[row] = append(found[row], name)
			}
		}
	}
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && file != "." && (d.Name() == "node_modules" || strings.HasPrefix(d.Name(), ".") || isModule(file)):
			return fs.SkipDir
		case strings.HasSuffix(file, "_test.go"):
			return rowsOfSource(file, note)
		case strings.HasSuffix(file, ".txtar"):
			return rowsOfScript(file, note)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, names := range found {
		slices.Sort(names)
	}
	return found
}

// rowsOfSource notes the tests of a file that name rows, in their names or comments.
func rowsOfSource(file string, note func(rows []string, name string)) error {
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
	if err != nil {
		return err
	}
	for _, decl := range parsed.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok || f.Recv != nil || !strings.HasPrefix(f.Name.Name, "Test") && !strings.HasPrefix(f.Name.Name, "Fuzz") && !strings.HasPrefix(f.Name.Name, "Benchmark") {
			continue
		}
		if m := rowsOfName.FindStringSubmatch(f.Name.Name); m != nil {
			note(rowNumber.FindAllString(m[1], -1), f.Name.Name)
		}
		note(rowInText.FindAllString(f.Doc.Text(), -1), f.Name.Name)
	}
	return nil
}

// rowsOfScript notes a script whose name or comments name rows.
func rowsOfScript(file string, note func(rows []string, name string)) error {
	base := filepath.Base(file)
	if m := rowOfFile.FindString(base); m != "" {
		note([]string{strings.ToUpper(strings.TrimSuffix(m, "_"))}, base)
	}
	data, err := os.ReadFile(file)
	for line := range bytes.Lines(data) {
		if bytes.HasPrefix(line, []byte("#")) {
			note(rowInText.FindAllString(string(line), -1), base)
		}
	}
	return err
}

// rowsListed returns the rows of the table, and the names that each lists: those in the
// lines of the entry that begin with a name.
func rowsListed(text string) map[string][]string {
	rows := make(map[string][]string)
	row := ""
	for line := range strings.Lines(text) {
		if m := rowEntry.FindStringSubmatch(line); m != nil {
			row = m[1]
			rows[row] = nil
		} else if strings.HasPrefix(line, "  `") {
			for _, m := range nameInList.FindAllStringSubmatch(line, -1) {
				rows[row] = append(rows[row], m[1])
			}
		}
	}
	return rows
}

// withTests returns the table with other lists of tests, in lines of at most 120 columns.
func withTests(text string, named map[string][]string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "  `") {
			continue
		}
		out.WriteString(line)
		m := rowEntry.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		width := 0
		for i, name := range named[m[1]] {
			if i > 0 && width+len(name)+4 > maxColumns {
				out.WriteString(",\n")
				width = 0
			} else if i > 0 {
				out.WriteString(", ")
			}
			if width == 0 {
				out.WriteString("  ")
				width = 2
			}
			fmt.Fprintf(&out, "`%s`", name)
			width += len(name) + 4
		}
		if len(named[m[1]]) > 0 {
			out.WriteString("\n")
		}
	}
	return out.String()
}
