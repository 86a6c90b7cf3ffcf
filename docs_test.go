package cairn_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-fb9cbc17/cairn/internal/odb"
)

// maxColumns is how long a line of a document may be.
const maxColumns = 120

// documents are the Markdown files that describe the project as it is.
func documents(t *testing.T) []string {
	t.Helper()
	list := []string{"README.md", "DESIGN.md", "CONTRIBUTING.md"}
	err := filepath.WalkDir("docs", func(file string, d fs.DirEntry, err error) error {
		if strings.HasSuffix(file, ".md") {
			list = append(list, file)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestDocsColumns: no line of a document, or of the unreleased changes, is too long.
func TestDocsColumns(t *testing.T) {
	t.Parallel()
	check := func(file, text string) {
		n := 0
		for line := range strings.Lines(text) {
			n++
			if columns := utf8.RuneCountInString(strings.TrimRight(line, "\n")); columns > maxColumns {
				t.Errorf("%s:%d has %d columns", file, n, columns)
			}
		}
	}
	for _, file := range documents(t) {
		check(file, textOf(t, file))
	}
	changes, _, _ := strings.Cut(textOf(t, "CHANGELOG.md"), "\n## v")
	check("CHANGELOG.md", changes)
}

var (
	linkInText = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	pathInText = regexp.MustCompile("`((?:internal|cmd|session|snapshot|integrations|bench|docs)/[^`\\s]+|[a-z_]+\\.go)`")
)

// TestDocsLinks: the pages and headings that a document links to are there, and so are the files and
// packages that it names.
func TestDocsLinks(t *testing.T) {
	t.Parallel()
	for _, file := range documents(t) {
		text := textOf(t, file)
		for _, m := range linkInText.FindAllStringSubmatch(text, -1) {
			target, heading, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, "://") {
				continue
			}
			page := file
			if target != "" {
				page = filepath.Join(filepath.Dir(file), target)
			}
			if _, err := os.Stat(page); err != nil {
				t.Errorf("%s links to %s, which is not there", file, m[1])
			} else if heading != "" && !slices.Contains(headings(textOf(t, page)), heading) {
				t.Errorf("%s links to %s, and %s has no such heading", file, m[1], page)
			}
		}
		for _, m := range pathInText.FindAllStringSubmatch(text, -1) {
			if _, err := os.Stat(m[1]); err != nil && m[1] != "doc.go" {
				t.Errorf("%s names %s, which is not there", file, m[1])
			}
		}
	}
}

// notInAnchor are the characters of a heading that its anchor lacks.
var notInAnchor = regexp.MustCompile(`[^\p{L}\p{N} _-]`)

// headings returns the anchors of a page's headings, as forges make them.
func headings(text string) (anchors []string) {
	for line := range strings.Lines(text) {
		title := strings.TrimLeft(line, "#")
		if len(title) == len(line) || !strings.HasPrefix(title, " ") {
			continue
		}
		title = notInAnchor.ReplaceAllString(strings.ToLower(strings.TrimSpace(title)), "")
		anchors = append(anchors, strings.ReplaceAll(title, " ", "-"))
	}
	return anchors
}

// TestDocsPages: the index of the documents has every page.
func TestDocsPages(t *testing.T) {
	t.Parallel()
	index := textOf(t, filepath.Join("docs", "README.md"))
	for _, file := range documents(t) {
		page, ok := strings.CutPrefix(filepath.ToSlash(file), "docs/")
		if ok && page != "README.md" && !strings.Contains(index, "("+page+")") {
			t.Errorf("docs/README.md does not link to %s", page)
		}
	}
}

const levelPage = "docs/design/packages.md"

// levelRow is a row of the table of levels: level, packages, what they are.
var levelRow = regexp.MustCompile(`(?m)^\| (\d+) \| ([^|]+) \| [^|]+ \|$`)

// TestDocsLevels: the table of levels has every package once, on the level that layers
// gives it, and no other package.
func TestDocsLevels(t *testing.T) {
	t.Parallel()
	stated := map[string]int{}
	for _, row := range levelRow.FindAllStringSubmatch(textOf(t, levelPage), -1) {
		level, err := strconv.Atoi(row[1])
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range nameInList.FindAllStringSubmatch(row[2], -1) {
			pkg := strings.TrimPrefix(name[1], "cairn")
			if _, twice := stated[pkg]; twice {
				t.Errorf("%s has %s twice", levelPage, name[1])
			}
			stated[pkg] = level
		}
	}
	if diff := cmp.Diff(layers, stated); diff != "" {
		t.Errorf("%s (+) does not have the packages and levels of layers (-):\n%s", levelPage, diff)
	}
}

// shortRow is a row of the short table of levels: lowest and highest level, packages among others.
var shortRow = regexp.MustCompile(`(?m)^\| (\d+)-(\d+) \| ([^|]+) \|$`)

// TestDocsShortLevels: the table of DESIGN.md names packages on the levels that layers gives them, or
// directories whose packages lie there, and every level is in one of its rows.
func TestDocsShortLevels(t *testing.T) {
	t.Parallel()
	covered := map[int]bool{}
	for _, row := range shortRow.FindAllStringSubmatch(textOf(t, "DESIGN.md"), -1) {
		low, err := strconv.Atoi(row[1])
		high, err2 := strconv.Atoi(row[2])
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		for level := low; level <= high; level++ {
			covered[level] = true
		}
		for _, name := range nameInList.FindAllStringSubmatch(row[3], -1) {
			pkg, found := strings.TrimPrefix(name[1], "cairn"), false
			for at, level := range layers {
				if at != pkg && (pkg == "" || pkg == "internal/odb" || !strings.HasPrefix(at, pkg+"/")) {
					continue
				}
				if found = true; level < low || level > high {
					t.Errorf("DESIGN.md has %s on the levels %d to %d, and %q is on %d", name[1], low, high, at, level)
				}
			}
			if !found {
				t.Errorf("DESIGN.md has %s in the table of levels, which is no package", name[1])
			}
		}
	}
	for pkg, level := range layers {
		if !covered[level] {
			t.Errorf("no row of the table in DESIGN.md has the level %d of %q", level, pkg)
		}
	}
}

// designLines is how long DESIGN.md may be: one reading, the rest is in docs/design.
const designLines = 200

// TestDocsDesignIsShort: DESIGN.md stays below its length.
func TestDocsDesignIsShort(t *testing.T) {
	t.Parallel()
	if n := strings.Count(textOf(t, "DESIGN.md"), "\n"); n >= designLines {
		t.Errorf("DESIGN.md has %d lines, fewer than %d are allowed: move a part to docs/design", n, designLines)
	}
}

// TestDocsPrivateFiles: DESIGN.md names every private file of a store.
func TestDocsPrivateFiles(t *testing.T) {
	t.Parallel()
	text := textOf(t, "DESIGN.md")
	names := []string{"cairn/damaged/"}
	for _, name := range privateFiles {
		if strings.HasPrefix(name, "cairn/") {
			names = append(names, name)
		}
	}
	for _, name := range []odb.Private{odb.PrivateCleaned, odb.PrivateBudget, odb.PrivateReplaced, odb.PrivateLost, odb.PrivatePurged, odb.PrivatePurging, odb.PrivateReviewed, odb.PrivateProject, odb.PrivateMachines, odb.PrivateRemote, odb.PrivateSource, odb.PrivatePushed, odb.PrivateSealed, odb.PrivateSeen} {
		names = append(names, "cairn/"+string(name))
	}
	for _, name := range names {
		if !strings.Contains(text, "`"+strings.TrimPrefix(name, "cairn/")+"`") {
			t.Errorf("DESIGN.md does not have the private file %s", name)
		}
	}
}
