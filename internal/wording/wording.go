// Package wording holds forms of text that every door uses: numbers with their noun,
// sizes, ages, quoted words, the first line of a prompt, and the lines of an error.
package wording

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Count returns a number with its noun, in the plural unless the number is 1. The noun
// is one whose plural ends in s.
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + Plural(noun)
}

// Plural is the plural of a regular noun, or of the last word of a text.
func Plural(noun string) string {
	stem, y := strings.CutSuffix(noun, "y")
	switch {
	case y && !strings.ContainsAny(stem[max(len(stem)-1, 0):], "aeou"):
		return stem + "ies"
	case strings.HasSuffix(noun, "ch"), strings.HasSuffix(noun, "sh"), strings.HasSuffix(noun, "s"):
		return noun + "es"
	}
	return noun + "s"
}

// Size returns a number of bytes in the largest unit that leaves it at 1 or above.
func Size(n int64) string {
	const units = "KMGTPE"
	if n < 1<<10 {
		return Count(int(n), "byte")
	}
	size, unit := float64(n)/(1<<10), 0
	for ; size >= 1023.95 && unit < len(units)-1; unit++ {
		size /= 1 << 10
	}
	return fmt.Sprintf("%.1f %ciB", size, units[unit])
}

// Ago says how long ago something was, in the largest unit that is at least 1.
func Ago(d time.Duration) string {
	for _, u := range []struct {
		unit time.Duration
		name string
	}{{24 * time.Hour, "day"}, {time.Hour, "hour"}, {time.Minute, "minute"}} {
		if n := int(d / u.unit); n > 0 {
			return Count(n, u.name) + " ago"
		}
	}
	return "just now"
}

// Beginning is the first n bytes of a text, less the part of a character at their end.
func Beginning(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// FirstLine returns the beginning of a text, at most width columns of its first line
// that is not blank. An ellipsis stands for the rest. Characters that are not printable
// become blanks.
func FirstLine(text string, width int) string {
	line, rest, _ := strings.Cut(strings.TrimSpace(text), "\n")
	printable := strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, line)
	if Columns(printable) > width {
		return strings.TrimRight(cut(printable, max(0, width-1)), " ") + "…"
	}
	printable = strings.TrimRight(printable, " ")
	if strings.TrimSpace(rest) != "" {
		return printable + " …"
	}
	return printable
}
