package secretrules

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/BurntSushi/toml"
)

// maxRuleFile is the largest size in bytes of a rule file, maxRules the largest number of its rules.
const (
	maxRuleFile = 1 << 20
	maxRules    = 2000
)

// ruleFile is a rule file. Keys that only concern reports of gitleaks are not read.
type ruleFile struct {
	Extend struct {
		UseDefault    bool     `toml:"useDefault"`
		Path          string   `toml:"path"`
		URL           string   `toml:"url"`
		DisabledRules []string `toml:"disabledRules"`
	} `toml:"extend"`
	Rules      []ruleText  `toml:"rules"`
	Allowlist  *allowText  `toml:"allowlist"`
	Allowlists []allowText `toml:"allowlists"`

	trusted bool // the own rules, whose expressions a test compiles
}

type ruleText struct {
	ID          string      `toml:"id"`
	Description string      `toml:"description"`
	Regex       string      `toml:"regex"`
	Path        string      `toml:"path"`
	Keywords    []string    `toml:"keywords"`
	Entropy     float64     `toml:"entropy"`
	SecretGroup int         `toml:"secretGroup"`
	Allowlist   *allowText  `toml:"allowlist"`
	Allowlists  []allowText `toml:"allowlists"`
	Required    []any       `toml:"required"`

	Anchored bool `toml:"anchored"`
	InWord   bool `toml:"inWord"`
}

type allowText struct {
	Condition   string   `toml:"condition"`
	RegexTarget string   `toml:"regexTarget"`
	Regexes     []string `toml:"regexes"`
	Paths       []string `toml:"paths"`
	StopWords   []string `toml:"stopwords"`
	Commits     []string `toml:"commits"`
	TargetRules []string `toml:"targetRules"`
}

// Load reads a rule file. With useDefault = true in its [extend] its rules come beside the own ones, and
// replace those of the same id. Otherwise they take the place of all. Errors name the file, and the rule.
func Load(path string) (*Rules, error) {
	text, err := readRuleFile(path)
	if err != nil {
		return nil, fmt.Errorf("secret rules: %w", err)
	}
	r, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("secret rules %s: %w", path, err)
	}
	return r, nil
}

func readRuleFile(path string) (string, error) {
	in, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer in.Close()
	info, err := in.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no regular file", path)
	}
	if err != nil {
		return "", err
	}
	data, err := io.ReadAll(io.LimitReader(in, maxRuleFile+1))
	if err == nil && len(data) > maxRuleFile {
		err = fmt.Errorf("%s is larger than %d bytes", path, maxRuleFile)
	}
	return string(data), err
}

func parse(text string) (*Rules, error) {
	f, err := decode(text)
	if err != nil {
		return nil, err
	}
	if f.Extend.Path != "" || f.Extend.URL != "" {
		return nil, errors.New("extend: only useDefault and disabledRules are supported, not path or url")
	}
	if f.Extend.UseDefault {
		f = (&ruleFile{Rules: ownRules, Allowlists: ownAllowlists}).with(f)
	}
	f.Rules = slices.DeleteFunc(f.Rules, func(r ruleText) bool { return slices.Contains(f.Extend.DisabledRules, r.ID) })
	if len(f.Rules) == 0 {
		return nil, errors.New("there is no rule in it ([[rules]] begins one)")
	}
	return f.compile()
}

func decode(text string) (*ruleFile, error) {
	f := &ruleFile{}
	if _, err := toml.Decode(text, f); err != nil {
		var bad toml.ParseError
		if errors.As(err, &bad) {
			return nil, fmt.Errorf("line %d: %s", bad.Position.Line, bad.Message)
		}
		return nil, err
	}
	if len(f.Rules) > maxRules {
		return nil, fmt.Errorf("%d rules are more than %d", len(f.Rules), maxRules)
	}
	return f, nil
}

// with returns the rules of f with those of another file, which count where ids are equal.
func (f *ruleFile) with(more *ruleFile) *ruleFile {
	rules := slices.DeleteFunc(slices.Clone(f.Rules), func(r ruleText) bool {
		return slices.ContainsFunc(more.Rules, func(m ruleText) bool { return m.ID == r.ID })
	})
	out := &ruleFile{Extend: more.Extend, Rules: append(slices.Clone(more.Rules), rules...)}
	for _, from := range []*ruleFile{f, more} {
		out.Allowlists = append(out.Allowlists, lists(from.Allowlist, from.Allowlists)...)
	}
	return out
}

func lists(one *allowText, many []allowText) []allowText {
	if one != nil {
		return append(slices.Clone(many), *one)
	}
	return many
}
