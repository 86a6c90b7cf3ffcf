// Package timewords reads points of time as people write them for git log --since.
package timewords

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

var (
	layouts = []string{
		time.RFC3339, "2006-01-02 15:04:05 -0700", "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04",
		"2006/01/02 15:04:05", "2006/01/02 15:04",
	}
	days = []string{"2006-01-02", "2006/01/02", "2006.01.02"}
)

// units lists the units of "2.hours.ago" by their first letters.
var units = []struct {
	name string
	add  func(now time.Time, n int) time.Time
}{
	{"seconds", func(now time.Time, n int) time.Time { return now.Add(-time.Duration(n) * time.Second) }},
	{"minutes", func(now time.Time, n int) time.Time { return now.Add(-time.Duration(n) * time.Minute) }},
	{"hours", func(now time.Time, n int) time.Time { return now.Add(-time.Duration(n) * time.Hour) }},
	{"days", func(now time.Time, n int) time.Time { return now.Add(-time.Duration(n) * 24 * time.Hour) }},
	{"weeks", func(now time.Time, n int) time.Time { return now.Add(-time.Duration(n) * 7 * 24 * time.Hour) }},
	{"months", func(now time.Time, n int) time.Time { return now.AddDate(0, -n, 0) }},
	{"years", func(now time.Time, n int) time.Time { return now.AddDate(-n, 0, 0) }},
}

// Parse reads a time: a date with or without a time of day, seconds since 1970, today,
// yesterday, a day of the week, or how long ago, as in 2.hours.ago or 2h. As in git, a date without
// a time of day has the present one.
func Parse(text string, now time.Time) (time.Time, bool) {
	trimmed := strings.TrimSpace(text)
	for _, layout := range layouts {
		if at, err := time.ParseInLocation(layout, trimmed, now.Location()); err == nil {
			return at, true
		}
	}
	for _, layout := range days {
		if day, err := time.ParseInLocation(layout, trimmed, now.Location()); err == nil {
			return atTimeOf(day, now), true
		}
	}
	if seconds, err := strconv.ParseInt(strings.TrimPrefix(trimmed, "@"), 10, 64); err == nil && (trimmed[0] == '@' || seconds >= 100_000_000) {
		return time.Unix(seconds, 0), true
	}
	return parseWords(strings.Join(strings.FieldsFunc(strings.ToLower(trimmed), func(r rune) bool { return r == ' ' || r == '.' || r == '_' }), " "), now)
}

func atTimeOf(day, now time.Time) time.Time {
	return time.Date(day.Year(), day.Month(), day.Day(), now.Hour(), now.Minute(), now.Second(), 0, now.Location())
}

func parseWords(text string, now time.Time) (time.Time, bool) {
	switch text {
	case "now", "today":
		return now, true
	case "yesterday":
		return now.Add(-24 * time.Hour), true
	case "midnight":
		return time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location()), true
	}
	if at, err := time.Parse("15:04", text); err == nil {
		return time.Date(now.Year(), now.Month(), now.Day(), at.Hour(), at.Minute(), 0, 0, now.Location()), true
	}
	if at, ok := weekday(strings.TrimPrefix(text, "last "), now); ok {
		return at, true
	}
	parts := regexp.MustCompile(`^([0-9]+|an?|last)\s*([a-z]+)(\s+ago)?$`).FindStringSubmatch(text)
	if parts == nil {
		return time.Time{}, false
	}
	n, err := strconv.Atoi(parts[1])
	if err != nil {
		n = 1
	}
	if n > 1_000_000 {
		return time.Time{}, false
	}
	return ago(n, parts[2], now)
}

// ago goes back by a number of units. A unit may be cut short: m stands for minutes.
func ago(n int, name string, now time.Time) (time.Time, bool) {
	if name == "sec" || name == "secs" || name == "min" || name == "mins" {
		name = name[:3]
	}
	for _, u := range units {
		if strings.HasPrefix(u.name, name) {
			return u.add(now, n), true
		}
	}
	return time.Time{}, false
}

// weekday returns the last day of a name before today, at the present time of day.
func weekday(name string, now time.Time) (time.Time, bool) {
	for back := 1; back <= 7; back++ {
		day := now.AddDate(0, 0, -back)
		full := strings.ToLower(day.Weekday().String())
		if name == full || name == full[:3] {
			return day, true
		}
	}
	return time.Time{}, false
}
