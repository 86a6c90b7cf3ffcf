package transfer

import (
	"context"
	"fmt"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// pushSpec is one line to push.
type pushSpec struct {
	name  string
	id    object.ID
	to    string
	force bool
}

func (s *pushSpec) String() string {
	if s.force {
		return "+" + s.id.String() + ":" + s.to
	}
	return s.id.String() + ":" + s.to
}

// maxCommandLine keeps the arguments below the limit of Windows.
const maxCommandLine = 24 << 10

// push sends lines in as few commands as possible. rejected are the lines that the remote refused
// because they would have moved backward.
func (m *remote) push(ctx context.Context, gitDir string, specs []pushSpec) (pushed []string, rejected []pushSpec, err error) {
	for len(specs) > 0 {
		var args []string
		byTarget := make(map[string]pushSpec)
		for size := 0; len(specs) > 0 && size < maxCommandLine; specs = specs[1:] {
			text := specs[0].String()
			args, size = append(args, text), size+len(text)
			byTarget[specs[0].to] = specs[0]
		}
		out, err := m.Run(ctx, gitDir, []string{"push", "--porcelain", "--no-verify", "--no-follow-tags", "--recurse-submodules=no"}, args)
		refused := false
		for line := range strings.Lines(out) {
			flag, spec, why, ok := parsePushed(line)
			s, known := byTarget[spec]
			switch {
			case !ok || !known || flag == '=':
			case flag != '!':
				pushed = append(pushed, s.name)
			case strings.HasPrefix(why, "[rejected]"):
				refused = true
				rejected = append(rejected, s)
			case strings.Contains(why, "shallow update not allowed"):
				refused = true
				m.log.Warn("line not pushed: its beginning has been cleaned away or thinned, and the remote takes only whole lines (with receive.shallowUpdate it takes others)", "line", s.name)
			default:
				return pushed, nil, fmt.Errorf("%s: %s", s.name, why)
			}
		}
		if err != nil && !refused {
			return pushed, nil, err
		}
	}
	return pushed, rejected, nil
}

// parsePushed parses a line of git push --porcelain: a flag, source and target, and a summary,
// separated by tabs.
func parsePushed(line string) (flag byte, to, why string, ok bool) {
	fields := strings.SplitN(strings.TrimRight(line, "\n"), "\t", 3)
	if len(fields) != 3 || len(fields[0]) != 1 {
		return 0, "", "", false
	}
	_, to, ok = strings.Cut(fields[1], ":")
	return fields[0][0], to, fields[2], ok
}
