package git

import (
	"bytes"
	"regexp"
	"strconv"
	"sync"
)

// Progress is told how far git has come: with which phase, how many objects of how many, 0 for
// unknown, and how many bytes.
type Progress func(phase string, done, total int, bytes int64)

// Talk takes in what git says on stderr: its progress goes to Tell, the rest is kept.
type Talk struct {
	Tell   Progress // may be nil
	Remote Progress // is told the progress that a remote says it makes; nil = Tell is

	line []byte       // the last line, which is not ended
	rest bytes.Buffer // without progress
}

// phaseOf is the phase of the beginning of a line, "" for none.
func phaseOf(beginning string) string {
	switch beginning {
	case "Enumerating objects", "Counting objects":
		return "count"
	case "Compressing objects":
		return "compress"
	case "Writing objects":
		return "write"
	case "Receiving objects", "Unpacking objects":
		return "receive"
	case "Resolving deltas":
		return "resolve"
	}
	return ""
}

var progressLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(remote: )?([A-Z][a-z]+ [a-z]+): +(?:\d+% \((\d+)/(\d+)\)|(\d+))(?:, ([\d.]+) (bytes|KiB|MiB|GiB))?`)
})

// maxRest bounds the kept output, in bytes: a remote may go on talking.
const maxRest = 64 << 10

// saveRest appends output that reports no progress, up to maxRest.
func (g *Talk) saveRest(text []byte) {
	g.rest.Write(text[:min(len(text), maxRest-g.rest.Len())])
}

// Write implements io.Writer.
func (g *Talk) Write(text []byte) (int, error) {
	if g.Tell == nil {
		g.saveRest(text)
		return len(text), nil
	}
	g.line = append(g.line, text...)
	for {
		end := bytes.IndexAny(g.line, "\r\n")
		if end < 0 && len(g.line) > maxRest {
			end = len(g.line) - 1
		}
		if end < 0 {
			return len(text), nil
		}
		if !g.progress(string(g.line[:end])) {
			g.saveRest(g.line[:end+1])
		}
		g.line = g.line[end+1:]
	}
}

// String returns what git said beside its progress.
func (g *Talk) String() string { return g.rest.String() + string(g.line) }

// progress passes a line on if it is one of progress.
func (g *Talk) progress(line string) bool {
	m := progressLine().FindStringSubmatch(line)
	if m == nil || phaseOf(m[2]) == "" {
		return false
	}
	tell := g.Tell
	if m[1] != "" && g.Remote != nil {
		tell = g.Remote
	}
	done, _ := strconv.Atoi(m[3] + m[5]) // one of them is a number
	total, _ := strconv.Atoi(m[4])       // 0 where git knows none
	tell(phaseOf(m[2]), done, total, sizeOf(m[6], m[7]))
	return true
}

// sizeOf reads a size as git prints it, 0 for none.
func sizeOf(number, unit string) int64 {
	n, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return 0
	}
	return int64(n * float64(int64(1)<<map[string]int{"KiB": 10, "MiB": 20, "GiB": 30}[unit]))
}
