package transfer

import (
	"context"
	"fmt"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// pushSpec is one line to push.
type pushSpec struct {
	line  string // its name here, "" for what is no line
	name  string // as pushes print it
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

// pushTries is how often lines are sent that the remote could not take at once.
const pushTries = 3

// push sends lines in as few commands as possible, and again, one by one, those that could not be taken beside others.
// rejected are the lines that the remote refused because they would have moved backward.
func (m *remote) push(ctx context.Context, gitDir string, specs []pushSpec) (pushed []string, rejected []pushSpec, err error) {
	for try := 1; len(specs) > 0; try++ {
		var again []pushSpec
		for len(specs) > 0 && err == nil {
			some := takeSpecs(&specs, try == 1)
			out, failed := m.Run(ctx, gitDir, []string{"push", "--porcelain", "--no-verify", "--no-follow-tags", "--recurse-submodules=no"}, textsOf(some))
			a := m.answer(out, some, try < pushTries)
			pushed, rejected, again = append(pushed, a.pushed...), append(rejected, a.rejected...), append(again, a.again...)
			if err = a.err; err != nil {
				err = withRemark(err, failed)
			} else if !a.refused {
				err = failed
			}
		}
		if err != nil {
			return pushed, nil, err
		}
		specs = again
	}
	return pushed, rejected, nil
}

// maxRemark bounds the words of a remote in an error, in bytes.
const maxRemark = 2 << 10

// withRemark adds what a remote has said when it refused a line, such as the reason of its hook.
func withRemark(err, failed error) error {
	if failed == nil {
		return err
	}
	var said []string
	for text := range strings.SplitSeq(failed.Error(), "; ") {
		if _, text, ok := strings.Cut(text, "remote: "); ok && strings.TrimSpace(text) != "" {
			said = append(said, strings.TrimSpace(text))
		}
	}
	if len(said) == 0 {
		return err
	}
	return fmt.Errorf("%w: %s", err, wording.Beginning(strings.Join(said, "; "), maxRemark))
}

// takeSpecs takes the lines of one command from a list, one or many.
func takeSpecs(specs *[]pushSpec, many bool) (some []pushSpec) {
	n := 0
	for size := 0; n < len(*specs) && size < maxCommandLine && (many || n == 0); n++ {
		size += len((*specs)[n].String())
	}
	some, *specs = (*specs)[:n], (*specs)[n:]
	return some
}

func textsOf(specs []pushSpec) (texts []string) {
	for _, s := range specs {
		texts = append(texts, s.String())
	}
	return texts
}

// answer is what a remote has said to some lines.
type answer struct {
	pushed          []string
	rejected, again []pushSpec
	refused         bool  // one of them, so that git has failed
	err             error // the first other reason
}

// answer reads what git push has printed. again says that lines are sent again if that may help.
func (m *remote) answer(out string, specs []pushSpec, again bool) (a answer) {
	byTarget := make(map[string]pushSpec)
	for _, s := range specs {
		byTarget[s.to] = s
	}
	for line := range strings.Lines(out) {
		flag, to, why, ok := parsePushed(line)
		s, known := byTarget[to]
		switch {
		case !ok || !known || flag == '=':
			continue
		case flag != '!':
			a.pushed = append(a.pushed, s.name)
			continue
		case strings.HasPrefix(why, "[rejected]"):
			a.rejected = append(a.rejected, s)
		case strings.Contains(why, "shallow update not allowed"):
			m.leave(s.line)
			m.log.Warn("line not pushed: its beginning has been cleaned away or thinned, and the remote takes only whole lines (with receive.shallowUpdate it takes others)", "line", s.name)
		case again && (movedMeanwhile(why) || tooManyAtOnce(why) || tidiedMeanwhile(why)):
			a.again = append(a.again, s)
		case a.err == nil:
			a.err = fmt.Errorf("%s: %s", s.name, why)
		}
		a.refused = true
	}
	return a
}

// tooManyAtOnce reports whether a receiving git may take a line alone. With receive.shallowUpdate git takes only one line
// of a push that begins later than it does here, and says nothing about those after it.
func tooManyAtOnce(why string) bool {
	return strings.Contains(why, "(shallow error)") || strings.Contains(why, "(remote failed to report status)")
}

// tidiedMeanwhile reports whether a receiving git could not keep what came: another git that tidies the repository at the
// same time removes empty directories of objects.
func tidiedMeanwhile(why string) bool { return strings.Contains(why, "unable to migrate objects") }

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
