package conformance

import (
	"encoding/json"
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
		name := strings.NewReplacer(" ", "-", ",", "").Replace(strings.ToLower(reports[i].Driver)) + ".json"
		if err := os.WriteFile(filepath.Join(dir, name), append(data, '\n'), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// WriteTable writes README.md of a directory: the table of all reports there, cairn first.
func WriteTable(dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return err
	}
	var reports []Report
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		var r Report
		if err := json.Unmarshal(data, &r); err != nil {
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
