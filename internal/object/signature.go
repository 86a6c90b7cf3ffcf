package object

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Signature says who made a commit and when.
type Signature struct {
	Name, Email string
	When        time.Time // second precision, the zone is kept to the minute
}

// appendSignature writes what git's fsck accepts, whatever the signature holds:
// characters that would end a field are dropped, a time before 1970 becomes 1970,
// and a zone a day or more away becomes UTC.
func appendSignature(dst []byte, s Signature) []byte {
	dst = append(dst, strings.TrimSpace(dropDelimiters(s.Name))...)
	dst = append(dst, " <"+dropDelimiters(s.Email)+"> "...)
	dst = strconv.AppendInt(dst, max(0, s.When.Unix()), 10)
	return append(appendZone(dst, s.When), '\n')
}

// dropDelimiters works on bytes: names need not be UTF-8.
func dropDelimiters(s string) string {
	const delimiters = "<>\n\x00"
	if !strings.ContainsAny(s, delimiters) {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := range len(s) {
		if strings.IndexByte(delimiters, s[i]) < 0 {
			out = append(out, s[i])
		}
	}
	return string(out)
}

const minutesOfDay = 24 * 60

func appendZone(dst []byte, t time.Time) []byte {
	_, offset := t.Zone()
	minutes, sign := offset/60, '+'
	if minutes < 0 {
		minutes, sign = -minutes, '-'
	}
	if minutes >= minutesOfDay {
		return append(dst, " +0000"...)
	}
	return fmt.Appendf(dst, " %c%02d%02d", sign, minutes/60, minutes%60)
}

// parseSignature refuses what git's fsck refuses, but for the zone: one that makes
// no sense is read as UTC, because the moment does not depend on it.
func parseSignature(s string) (Signature, error) {
	name, rest, open := strings.Cut(s, "<")
	email, rest, closed := strings.Cut(rest, ">")
	stamp, zone, _ := strings.Cut(strings.TrimSpace(rest), " ")
	const delimiters = "<>\n"
	if !open || !closed || strings.ContainsAny(name, delimiters) || strings.ContainsAny(email, delimiters) || strings.ContainsAny(rest, delimiters) {
		return Signature{}, fmt.Errorf("%w: signature %q", ErrMalformed, s)
	}
	sec, err := strconv.ParseUint(stamp, 10, 63)
	if err != nil {
		return Signature{}, fmt.Errorf("%w: signature time %q", ErrMalformed, stamp)
	}
	when := time.Unix(int64(sec), 0).In(parseZone(zone))
	return Signature{Name: strings.TrimSpace(name), Email: email, When: when}, nil
}

// parseZone reads +hhmm or -hhmm. It does without time.Parse, which puts the
// machine's own time zone, summer time and all, in the place of an offset that
// equals it.
func parseZone(s string) *time.Location {
	if len(s) != len("+0000") || s[0] != '+' && s[0] != '-' {
		return time.UTC
	}
	n, err := strconv.ParseUint(s[1:], 10, 16)
	minutes := int(n/100*60 + n%100)
	if err != nil || n%100 >= 60 || minutes == 0 || minutes >= minutesOfDay {
		return time.UTC
	}
	if s[0] == '-' {
		minutes = -minutes
	}
	return time.FixedZone("", minutes*60)
}
