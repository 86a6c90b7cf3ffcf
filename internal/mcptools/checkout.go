package mcptools

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

func (t *tools) addCheckout(s *mcp.Server) {
	add(s, &mcp.Tool{
		Name: "checkout", Description: "Put a checkpoint into a new directory, for another agent, a test or a look. The working directory does not change, and nothing that exists is overwritten. " +
			"With dryRun it only says how many files and bytes it would be.",
		Annotations: adds("Copy a checkpoint to a directory"),
	}, t.checkout)
}

type checkoutArgs struct {
	Hash        string   `json:"hash" jsonschema:"checkpoint to copy; @ is the newest"`
	Dir         string   `json:"dir" jsonschema:"absolute path of the directory to make; nothing or an empty directory is there"`
	WithIgnored bool     `json:"withIgnored,omitempty" jsonschema:"bring ignored files of the working directory, such as node_modules"`
	Patterns    []string `json:"patterns,omitempty" jsonschema:"bring of these only what matches, as in .gitignore"`
	DryRun      bool     `json:"dryRun,omitempty" jsonschema:"only say how many files and bytes it would be"`
}

// copyResult is a CheckoutResult without its methods: its MarshalJSON would leave Unlisted out.
type copyResult cairn.CheckoutResult

type copied struct {
	copyResult
	Unlisted int `json:"unlisted" jsonschema:"further paths for which there was no room"`
}

func (t *tools) checkout(ctx context.Context, args checkoutArgs) (out copied, text string, err error) {
	dir, err := absoluteDir("dir", args.Dir)
	switch {
	case err != nil:
		return out, "", err
	case args.Hash == "":
		return out, "", fmt.Errorf("%w: hash is empty; @ is the newest checkpoint", errArguments)
	}
	res, err := t.repo.Checkout(ctx, args.Hash, dir, cairn.CheckoutOptions{
		WithIgnored: args.WithIgnored || len(args.Patterns) > 0, Ignored: args.Patterns, DryRun: args.DryRun,
	})
	if err != nil {
		return out, "", err
	}
	out.copyResult = copyResult(*res)
	out.LeftOut, out.Conflicts = some(&out.Unlisted, res.LeftOut), some(&out.Unlisted, res.Conflicts)
	return out, copyText(res), nil
}

// absoluteDir is the directory that an argument of that name has: an absolute path as package pathtext
// encodes it.
func absoluteDir(name, text string) (string, error) {
	dir, err := pathtext.Decode(text)
	switch {
	case err != nil:
		return "", fmt.Errorf("%w: %s: %w", errArguments, name, err)
	case !filepath.IsAbs(dir) || strings.IndexByte(dir, 0) >= 0:
		return "", fmt.Errorf("%w: %s is an absolute path, not %s", errArguments, name, pathtext.Quote(dir))
	}
	return filepath.Clean(dir), nil
}

func copyText(res *cairn.CheckoutResult) string {
	var b strings.Builder
	made := "made "
	if res.DryRun {
		made = "nothing is made yet; it would be "
	}
	fmt.Fprintf(&b, "%s%s: %s (%s)", made, res.Dir.Place(), wording.Count(res.Files, "file"), wording.Size(res.Bytes))
	if n := res.Ignored; n.Files > 0 {
		fmt.Fprintf(&b, " and %s (%s) of ignored files", wording.Count(n.Files, "file"), wording.Size(n.Bytes))
	}
	b.WriteString("\n")
	lines(&b, res.LeftOut, func(p cairn.PathReason) string { return "left out " + p.Path.Quoted() + ": " + p.Reason })
	lines(&b, res.Conflicts, func(p cairn.PathReason) string { return "conflict " + p.Path.Quoted() + ": " + p.Reason })
	return strings.ToValidUTF8(strings.TrimSuffix(b.String(), "\n"), "\uFFFD")
}
