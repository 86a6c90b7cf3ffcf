package conformance

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Save writes a JSON file for each report into a directory.
func Save(dir string, reports []Report) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for i := range reports {
		data, err := json.MarshalIndent(&reports[i], "", "  ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(fileOf(dir, reports[i].Driver), append(data, '\n'), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func fileOf(dir, driver string) string {
	return filepath.Join(dir, strings.NewReplacer(" ", "-", ",", "").Replace(strings.ToLower(driver))+".json")
}

// Load reads the report of a driver that Save has written into a directory, an empty one if there is
// none.
func Load(dir, driver string) (Report, error) {
	r, err := read(fileOf(dir, driver))
	if errors.Is(err, fs.ErrNotExist) {
		return Report{Driver: driver}, nil
	}
	return r, err
}

func read(file string) (r Report, err error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal(data, &r)
}

// WriteTable writes README.md of a directory: the table of all reports there, cairn first.
func WriteTable(dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return err
	}
	var reports []Report
	for _, file := range files {
		r, err := read(file)
		if err != nil {
			return err
		}
		reports = append(reports, r)
	}
	slices.SortStableFunc(reports, func(a, b Report) int {
		return strings.Compare(rank(a.Driver), rank(b.Driver))
	})
	text := "# Results\n\nMade by the commands in [README.md](../README.md). \"lost\": work was lost, or a part of the turn stayed." +
		" \"–\": the driver\ncannot play it.\n\n" + Table(Scenarios(), reports)
	return os.WriteFile(filepath.Join(dir, "README.md"), []byte(text), 0o644)
}

func rank(driver string) string {
	if strings.HasPrefix(driver, "cairn") {
		return "0" + driver
	}
	return "1" + driver
}
