package transfer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/envelope"
	"github.com/seed-fb9cbc17/cairn/internal/git"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
)

// rewritten reports whether the lines of the store take the place of all that was on the remote.
func (s *sealedPush) rewritten(was *envelope.State) bool {
	return s.rewrite || was.For != envelope.Fingerprint(s.recipients)
}

// moved returns the lines and lists of signatures that the remote does not have like that, by the names that they
// get there. A line that was begun again gets a second name.
func (s *sealedPush) moved(ctx context.Context, was *envelope.State) (tips map[string]object.ID, err error) {
	parts := was.Listed()
	if s.rewritten(was) {
		parts = nil
	}
	heads, line := envelope.Heads(parts), s.ancestry(ctx, parts)
	tips = make(map[string]object.ID)
	for _, ref := range s.lines {
		name, err := s.nameThere(line, ref, heads)
		if err != nil {
			return nil, err
		}
		if heads[name].ID == ref.ID {
			continue
		}
		switch whole, err := line.whole(ref.ID); {
		case err != nil:
			return nil, err
		case whole:
			tips[name] = ref.ID
		default:
			s.m.leave(strings.TrimPrefix(ref.Name, history.RefRoot))
			s.Log.Warn("line not pushed: its beginning has been cleaned away or thinned, and the remote does not have it", "line", name)
		}
	}
	signed, err := s.signedSpecs("")
	for _, spec := range signed {
		name := strings.TrimPrefix(history.RefSignatures, history.RefRoot) + strings.TrimPrefix(spec.to, history.RefSignatures+"/")
		if heads[name].ID != spec.id {
			tips[name] = spec.id
		}
	}
	return tips, err
}

// nameThere returns the name of a line on the remote.
func (s *sealedPush) nameThere(line *ancestry, ref odb.Ref, heads map[string]envelope.Head) (name string, err error) {
	name = strings.TrimPrefix(ref.Name, history.RefRoot)
	for range 2 {
		head, had := heads[name]
		if !had || head.ID == ref.ID || strings.HasPrefix(ref.Name, history.RefPins) {
			return name, nil
		}
		on, err := line.leads(ref.ID, head.ID)
		if err != nil || on {
			return name, err
		}
		name += "-" + s.beginning(ref.ID).String()[:history.BeginningDigits]
	}
	return "", fmt.Errorf("line %s would move backward", ref.Name)
}

// stay returns how many parts are not written again. Those that are must be in the store as a whole.
func (s *sealedPush) stay(ctx context.Context, was *envelope.State) (int, error) {
	parts := was.Listed()
	for fixed := 0; ; {
		from := envelope.MergeFrom(parts, fixed, cmp.Or(s.mostParts, envelope.MostParts))
		line, before := s.ancestry(ctx, parts[:from]), fixed
		for name, head := range envelope.Heads(parts) {
			if head.Part < from {
				continue
			}
			whole, err := s.whole(line, name, head.ID)
			if err != nil {
				return 0, err
			}
			if !whole {
				fixed = max(fixed, head.Part+1)
			}
		}
		if fixed == before {
			return from, nil
		}
	}
}

// whole reports whether all that the head of a line, or a list of signatures, leads to is in the store or on the
// remote.
func (r *Transport) whole(line *ancestry, name string, id object.ID) (bool, error) {
	here, err := r.DB.Has(id) // of a thinned checkpoint only a record is
	if !here || strings.HasPrefix(history.RefRoot+name, history.RefSignatures) {
		return here, err
	}
	return line.whole(id)
}

// tipsOf are the tips of the parts that are written again, and the new ones.
func (s *sealedPush) tipsOf(was *envelope.State, stay int, tips map[string]object.ID) map[string]object.ID {
	all := make(map[string]object.ID)
	for name, head := range envelope.Heads(was.Listed()) {
		if head.Part >= stay && !s.rewritten(was) {
			all[name] = head.ID
		}
	}
	maps.Copy(all, tips)
	return all
}

// packArgs make git pack what some commits lead to and others do not, with deltas against what the others
// lead to.
var packArgs = []string{
	"-c", "core.bigFileThreshold=16m", "-c", "pack.packSizeLimit=0", // larger blobs are streamed
	"pack-objects", "--revs", "--thin", "--stdout", "--delta-base-offset", "--progress",
}

// part seals a pack of what tips lead to and the parts before it do not have.
func (s *sealedPush) part(
	ctx context.Context, to envelope.Adder, tips map[string]object.ID, before []envelope.Part,
) (part envelope.Sent, err error) {
	part.Tips = make(map[string]string)
	var list strings.Builder
	for _, name := range slices.Sorted(maps.Keys(tips)) {
		part.Tips[name] = tips[name].String()
		list.WriteString(part.Tips[name] + "\n")
	}
	for id := range s.tipsHere(before) {
		list.WriteString("^" + id.String() + "\n")
	}
	w, err := envelope.NewWriter(to, s.Opt.Sealer, s.recipients)
	if err != nil {
		return part, err
	}
	q, err := s.DB.Quarantine()
	if err != nil {
		return part, err
	}
	defer func() { err = errors.Join(err, q.Discard()) }()
	ends, err := s.DB.Shallow()
	if err == nil {
		err = q.SetShallow(ends)
	}
	if err == nil {
		err = s.m.local(ctx, q.Dir(), packArgs, strings.NewReader(list.String()), w)
	}
	if err != nil {
		return part, err
	}
	sent, tree, err := w.Close()
	part.Sum, part.Size, part.Tree = sent.Sum, sent.Size, tree.String()
	return part, err
}

// local runs a git command that speaks to no remote. The guard ends it as it does others.
func (m *remote) local(ctx context.Context, gitDir string, args []string, in io.Reader, out io.Writer, env ...string) error {
	ctx, g, end := m.guarded(ctx, gitDir)
	cmd := m.git.Command(ctx, gitDir, append([]string{"--git-dir=" + gitDir}, args...)...)
	cmd.Env = append(cmd.Env, env...)
	complaint := g.listens(m.tell)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, &complaint
	return outcome(cmd.Run(), &complaint, end)
}

// outcome ends the guard of a command, and explains the error of the command.
func outcome(err error, complaint *git.Talk, end func() error) error {
	if cause := end(); cause != nil {
		return cause
	}
	if err != nil {
		err = fmt.Errorf("git: %s: %w", explain(onOneLine(complaint.String())), err)
	}
	return err
}

// tipsHere are the tips of some parts that the store still has.
func (r *Transport) tipsHere(parts []envelope.Part) map[object.ID]bool {
	here := make(map[object.ID]bool)
	for _, p := range parts {
		for _, text := range p.Tips {
			id, err := object.ParseID(text)
			if err != nil {
				continue
			}
			if ok, err := r.DB.Has(id); err == nil && ok {
				here[id] = true
			}
		}
	}
	return here
}
