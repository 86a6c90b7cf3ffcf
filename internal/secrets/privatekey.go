package secrets

import (
	"regexp"
	"strings"
	"sync"
)

const privateKey = "private-key"

var (
	// keyHeader is the first or the last line of a key, of RFC 7468 or RFC 4880, behind its word.
	keyHeader = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\A[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----`) })

	// keyBody is base64 behind the first line of a key that is cut off. Line feeds may be written as in JSON.
	keyBody = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\A(?:\s|\\[nr])*[A-Za-z0-9+/=]{40}(?:[A-Za-z0-9+/=\s]|\\[nr])*`)
	})
)

// privateKeys finds keys with their first and last lines. One that is cut off ends with its last line
// of base64.
func privateKeys(text string) (list []Finding) {
	const begin, end = "-----BEGIN ", "-----END "
	for at := 0; ; {
		i := strings.Index(text[at:], begin)
		if i < 0 {
			return list
		}
		start := at + i
		at = start + len(begin)
		header := keyHeader().FindStringIndex(text[at:])
		if header == nil {
			continue
		}
		at += header[1]
		next := strings.Index(text[at:], "-----")
		if next >= 0 && strings.HasPrefix(text[at+next:], end) {
			if last := keyHeader().FindStringIndex(text[at+next+len(end):]); last != nil {
				at += next + len(end) + last[1]
				list = append(list, Finding{privateKey, start, at})
				continue
			}
		}
		if body := keyBody().FindStringIndex(text[at:]); body != nil {
			at += body[1]
			list = append(list, Finding{privateKey, start, at})
		}
	}
}
