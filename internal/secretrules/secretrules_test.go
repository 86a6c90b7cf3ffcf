package secretrules

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// made puts tokens together while the test runs, so that no scanner finds one in the source.
func made(parts ...string) string { return strings.Join(parts, "") }

var (
	hex32  = "0f1e2d3c4b5a69788796a5b4c3d2e1f0"
	word36 = "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
	word64 = word36 + "S9t0U1v2W3x4Y5z6A7b8C9d0E1f2"
	body   = strings.Repeat("MIIEpAIBAAKCAQEAx9fRk3b5TzQ0yU1v", 3)
)

func own(t testing.TB) *Rules {
	t.Helper()
	r, err := Own()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// ids returns the rules that find something, sorted.
func ids(list []Finding) (names []string) {
	for _, f := range list {
		names = append(names, f.Rule)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// secretsOf has a text for each own rule that it finds.
var secretsOf = map[string][]string{
	"private-key": {
		made("-----BEGIN ", "RSA PRIVATE KEY-----\n", body, "\n-----END RSA ", "PRIVATE KEY-----\n"),
		made("-----BEGIN ", "RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n", body),
		made("key = \"-----BEGIN ", "PRIVATE KEY-----\\n", body, "\""),
		made("-----BEGIN ", "PGP PRIVATE KEY BLOCK-----\nVersion: x\n\n", body),
	},
	"age-key":                   {made("AGE-SECRET-", "KEY-1", strings.Repeat("Q2W", 19), "Z")},
	"aws-access-key":            {made("AKIA", "IOSFODNN7ABCDEFG"), made("x='ASIA", "Y34FZKBOKMUTVV7A'")},
	"aws-secret-key":            {made("aws_secret_access_key = ", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYabcdefgh12"), made("awsSecretKey: \"", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYabcdefgh12\"")},
	"github-token":              {made("ghp_", word36), made("https://ghs_", word36, "@github.com")},
	"github-fine-grained-token": {made("github_pat_", "11ABCDEFG0", "abcdefghijkl_", word36)},
	"gitlab-token":              {made("glpat-", "a1B2c3D4e5F6g7H8i9J0"), made("GLPAT='glpat-", "a1B2c3D4e5F6g7H8i9J0'")},
	"slack-token":               {made("xoxb-", "123456789012-1234567890123-", "abcdefABCDEF"), made("xapp-", "1-A0123-456-", hex32)},
	"slack-webhook":             {made("https://hooks.slack", ".com/services/", "T0A1B2C3D/B4E5F6G7H/aBcDeFgHiJkLmNoPqRsT")},
	"stripe-key":                {made("sk_live_", "4eC39HqLyjWDarjtT1zdp7dc"), made("whsec_", hex32)},
	"anthropic-key":             {made("sk-ant-", "api03-", word36, "-", word36, "AA")},
	"openai-key":                {made("sk-proj-", word36, "_-", word36), made("sk-", word36[:20], "T3Blbk", "FJ", word36[:20])},
	"openrouter-key":            {made("sk-or-", "v1-", hex32, hex32)},
	"google-api-key":            {made("AIza", "SyA1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q")},
	"google-oauth-secret":       {made("GOCSPX-", "A1b2C3d4E5f6G7h8I9j0K1l2M3n4"), made("ya29.", word36)},
	"azure-storage-key":         {made("DefaultEndpointsProtocol=https;AccountName=x;Account", "Key=", word64, "A1b2C3d4E5f6G7h8I9j0K1==;")},
	"npm-token":                 {made("//registry.npmjs.org/:_authToken=npm_", word36)},
	"pypi-token":                {made("pypi-", "AgEIcHlwaS5vcmc", word64)},
	"docker-token":              {made("dckr_pat_", "A1b2C3d4E5f6G7h8I9j0K1l2M3n")},
	"huggingface-token":         {made("HF_TOKEN=hf_", "AbCdEfGhIjKlMnOpQrStUvWxYzAbCdEfGh")},
	"groq-key":                  {made("gsk_", word64[:52])},
	"sendgrid-key":              {made("SENDGRID_API_KEY=SG.", "A1b2C3d4E5f6G7h8I9j0Kw", ".", word36, "A1b2C3d")},
	"digitalocean-token":        {made("dop_v1_", hex32, hex32)},
	"shopify-token":             {made("shpat_", hex32)},
	"databricks-token":          {made("dapi", hex32)},
	"vault-token":               {made("hvs.", word36)},
	"atlassian-token":           {made("ATATT3", word64)},
	"url-password":              {made("postgres://app:", "x9Kq2mVb7TzR", "@db.internal:5432/app"), made("mongodb+srv://u:", "x9Kq2mVb7TzR", "@cluster0.mongodb.net")},
	"generic-api-key":           {made("API_KEY = \"", "k3J9xQ2mVb7TzR8wLp4N", "\""), made("dbPassword: '", "k3J9xQ2mVb7TzR8wLp4N", "'")},
}

// TestOwnRulesFind: each own rule finds its secrets at the beginning, in the middle and at the end of a
// text, on the right line, and binary contents have none.
func TestOwnRulesFind(t *testing.T) {
	t.Parallel()
	r := own(t)
	for _, rule := range r.rules {
		if len(secretsOf[rule.id]) == 0 {
			t.Errorf("rule %s has no test", rule.id)
		}
	}
	for id, texts := range secretsOf {
		for n, text := range texts {
			for name, c := range map[string]struct {
				before, after string
				line          int
			}{"alone": {"", "", 1}, "middle": {"package x\n\n// a comment\n\t", "\nmore\n", 4}, "long": {strings.Repeat("some words, and more\n", 5000), "\n", 5001}} {
				found := r.Find("a/file.go", []byte(c.before+text+c.after))
				if !slices.Equal(ids(found), []string{id}) {
					t.Errorf("%s %d %s: found %v", id, n, name, found)
					continue
				}
				if found[0].Line != c.line && id != "sendgrid-key" {
					t.Errorf("%s %d %s: line %d, want %d", id, n, name, found[0].Line, c.line)
				}
			}
			if found := r.Find("x", []byte(text+"\x00")); len(found) > 0 {
				t.Errorf("%s: binary contents: %v", id, found)
			}
		}
	}
}

// TestOwnRulesPass: what only looks like a secret, or is allowed, is none.
func TestOwnRulesPass(t *testing.T) {
	t.Parallel()
	r := own(t)
	token := made("ghp_", word36)
	for name, text := range map[string]string{
		"a hash":               "commit 0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c\n",
		"the documented key":   made("AKIA", "IOSFODNN7EXAMPLE"),
		"a placeholder":        "API_KEY = \"your-api-key-goes-here\"\npassword = \"changeme-changeme-1\"\n",
		"a reference":          "password = os.Getenv(\"PASSWORD_OF_DATABASE\")\nclient_secret: ${{ secrets.CLIENT_SECRET }}\n",
		"a local database":     made("postgres://app:", "x9Kq2mVb7TzR", "@localhost/app"),
		"a template":           "postgres://$USER:$PASSWORD@db/app\nmysql://{user}:{password}@host\n",
		"a word in a name":     "func isAsiaRegion(password string) bool\n",
		"behind a letter":      "x" + token + "\n",
		"a public key":         "-----BEGIN PUBLIC KEY-----\n" + body + "\n",
		"a header alone":       "const begin = \"-----BEGIN RSA PRIVATE KEY-----\"\n",
		"allowed for gitleaks": "token: " + token + " # gitleaks:allow\n",
		"allowed for cairn":    "token: " + token + " // cairn:allow, a test\n",
		"a low entropy":        made("ghp_", strings.Repeat("a", 36)),
	} {
		if found := r.Find("a/file.go", []byte(text)); len(found) > 0 {
			t.Errorf("%s: %v", name, found)
		}
	}
	if found := r.Find("sub/go.sum", []byte(token)); len(found) > 0 {
		t.Errorf("go.sum: %v", found)
	}
	if found := r.Find("file", []byte("x # cairn:allow\n"+token)); len(found) != 1 || found[0].Line != 2 {
		t.Errorf("the comment counts on its own line only: %v", found)
	}
}

// TestStreamEqualsFind: a stream finds what the whole contents have, wherever the pieces end.
func TestStreamEqualsFind(t *testing.T) {
	t.Parallel()
	r := own(t)
	rng := rand.New(rand.NewPCG(1, 2))
	for _, place := range []int{0, 5000, blockSize - 20, pieceSize - 20, pieceSize, pieceSize + overlap - 10, 2*pieceSize - 3, 3*pieceSize - 100} {
		text := []byte(strings.Repeat("some words, and more of them\n", 3*pieceSize/29))
		for _, id := range []string{"github-token", "openai-key", "private-key"} {
			s := secretsOf[id][rng.IntN(len(secretsOf[id]))]
			at := min(place+rng.IntN(9), len(text)-len(s)-1)
			copy(text[at:], "\n"+s+"\n")
			want := r.Find("f", text)
			got, err := r.FindIn("f", iotest.HalfReader(bytes.NewReader(text)))
			if err != nil || !slices.Equal(got, want) || !slices.Contains(ids(want), id) {
				t.Errorf("%s at %d: %v (%v), want %v", id, at, got, err, want)
			}
		}
	}
	broken := errors.New("broken")
	if _, err := r.FindIn("f", io.MultiReader(strings.NewReader("text"), iotest.ErrReader(broken))); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
}

// TestWordsEqualSearch: the search for many keywords finds the places that a plain search finds.
func TestWordsEqualSearch(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	letters := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = "aAbB_-"[rng.IntN(6)]
		}
		return string(b)
	}
	for range 300 {
		var list []string
		for range 1 + rng.IntN(5) {
			if word := strings.ToLower(letters(minWord + rng.IntN(5))); !slices.Contains(list, word) {
				list = append(list, word)
			}
		}
		text := letters(rng.IntN(900))
		var got, want [][2]int
		newWords(list).each([]byte(text), func(word, at int) { got = append(got, [2]int{word, at}) })
		for n, word := range list {
			for at := range text {
				if strings.HasPrefix(strings.ToLower(text[at:]), word) {
					want = append(want, [2]int{n, at})
				}
			}
		}
		byPlace := func(a, b [2]int) int { return (a[0]-b[0])*10000 + a[1] - b[1] }
		slices.SortFunc(got, byPlace)
		slices.SortFunc(want, byPlace)
		if !slices.Equal(got, want) {
			t.Fatalf("%q in %q: %v, want %v", list, text, got, want)
		}
	}
}

// TestLoad: a file of rules in the format of gitleaks.
func TestLoad(t *testing.T) {
	t.Parallel()
	const rule = "[[rules]]\nid = \"x\"\nregex = '''xx-([a-z0-9]{8})(z?)'''\nkeywords = [\"XX-\"]\n"
	for name, c := range map[string]struct {
		file, path, text string
		want             []string
	}{
		"a match":                  {rule, "f", "XX-\nxx-abcdefg1", []string{"x"}},
		"no keyword":               {"[[rules]]\nid = \"x\"\nregex = '''[a-z]{3}-9'''\n", "f", "abc-9", []string{"x"}},
		"a short keyword":          {"[[rules]]\nid = \"x\"\nregex = '''k[0-9]'''\nkeywords = [\"k\"]\n", "f", "k1", []string{"x"}},
		"the keyword is elsewhere": {"[[rules]]\nid = \"x\"\nregex = '''n[0-9]{4}'''\nkeywords = [\"acme\"]\n", "f", "acme\n\nn1234", []string{"x"}},
		"no keyword in the text":   {"[[rules]]\nid = \"x\"\nregex = '''n[0-9]{4}'''\nkeywords = [\"acme\"]\n", "f", "n1234", nil},
		"a path":                   {rule + "path = '''\\.env$'''\n", "a/.env", "xx-abcdefg1", []string{"x"}},
		"another path":             {rule + "path = '''\\.env$'''\n", "a/env", "xx-abcdefg1", nil},
		"a path alone":             {"[[rules]]\nid = \"p\"\npath = '''\\.p12$'''\n", "key.p12", "\x00", []string{"p"}},
		"entropy":                  {rule + "entropy = 2.5\n", "f", "xx-abcdefg1 xx-aaaaaaaa", []string{"x"}},
		"too little entropy":       {rule + "entropy = 2.5\n", "f", "xx-aaaaaaaa", nil},
		"a group":                  {rule + "secretGroup = 2\nentropy = 0.1\n", "f", "xx-abcdefg1z", nil},
		"a stopword":               {rule + "[[rules.allowlists]]\nstopwords = [\"CDEF\"]\n", "f", "xx-abcdefg1", nil},
		"the old allowlist":        {rule + "[rules.allowlist]\nregexes = ['''^abc''']\n", "f", "xx-abcdefg1", nil},
		"target match":             {rule + "[rules.allowlist]\nregexTarget = \"match\"\nregexes = ['''^xx''']\n", "f", "xx-abcdefg1", nil},
		"target line":              {rule + "[rules.allowlist]\nregexTarget = \"line\"\nregexes = ['''^ok''']\n", "f", "ok xx-abcdefg1\nno xx-abcdefg2", []string{"x"}},
		"target secret":            {rule + "[rules.allowlist]\nregexes = ['''^xx''']\n", "f", "xx-abcdefg1", []string{"x"}},
		"both conditions":          {rule + "[[rules.allowlists]]\ncondition = \"AND\"\npaths = ['''test''']\nstopwords = [\"abc\"]\n", "test/f", "xx-abcdefg1", nil},
		"one of both conditions":   {rule + "[[rules.allowlists]]\ncondition = \"AND\"\npaths = ['''test''']\nstopwords = [\"abc\"]\n", "f", "xx-abcdefg1", []string{"x"}},
		"an allowlist for all":     {"[allowlist]\npaths = ['''vendor/''']\n" + rule, "vendor/f", "xx-abcdefg1", nil},
		"for another rule":         {rule + "[[allowlists]]\ntargetRules = [\"y\"]\npaths = ['''f''']\n", "f", "xx-abcdefg1", []string{"x"}},
		"for this rule":            {rule + "[[allowlists]]\ntargetRules = [\"x\"]\npaths = ['''f''']\n", "f", "xx-abcdefg1", nil},
		"commits only":             {rule + "[rules.allowlist]\ncommits = [\"0123\"]\n", "f", "xx-abcdefg1", []string{"x"}},
		"instead of the own ones":  {rule, "f", made("ghp_", word36), nil},
		"beside the own ones":      {"[extend]\nuseDefault = true\n" + rule, "f", made("ghp_", word36, " xx-abcdefg1"), []string{"github-token", "x"}},
		"one replaces an own one":  {"[extend]\nuseDefault = true\n[[rules]]\nid = \"github-token\"\nregex = '''never'''\n", "f", made("ghp_", word36), nil},
		"without an own one":       {"[extend]\nuseDefault = true\ndisabledRules = [\"github-token\"]\n" + rule, "f", made("ghp_", word36), nil},
		"generic gives way":        {rule + "[[rules]]\nid = \"generic\"\nregex = '''xx-'''\n", "f", "xx-abcdefg1\nxx-\n", []string{"generic", "x"}},
	} {
		path := filepath.Join(t.TempDir(), "rules.toml")
		if err := os.WriteFile(path, []byte(c.file), 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := Load(path)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := ids(r.Find(c.path, []byte(c.text))); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// TestLoadRefuses: a rule file that would silently find less is an error that names the file and the rule.
func TestLoadRefuses(t *testing.T) {
	t.Parallel()
	const rule = "[[rules]]\nid = \"x\"\nregex = '''x'''\n"
	for text, want := range map[string]string{
		"":                                     "no rule",
		"[[rules]\n":                           "line 2",
		"[[rules]]\nregex = '''x'''\n":         "want an id",
		"[[rules]]\nid = \"a b\"\nregex='x'\n": "want an id",
		"[[rules]]\nid = \"x\"\n":              "want a regex or a path",
		"[[rules]]\nid = \"x\"\nregex = '''('''\n":                                  `rule "x": regex`,
		"[[rules]]\nid = \"x\"\nregex='x'\npath = '''['''\n":                        `rule "x": path`,
		rule + "secretGroup = 2\n":                                                  "secretGroup 2 of 0 groups",
		rule + "anchored = true\n":                                                  "anchored wants keywords",
		rule + "[[rules.required]]\nid = \"y\"\n":                                   "required",
		rule + "[[rules.allowlists]]\n":                                             "want regexes, paths, stopwords",
		rule + "[[rules.allowlists]]\nregexes = [\"(\"]\n":                          "allowlist",
		rule + "[[rules.allowlists]]\ncondition = \"XOR\"\nstopwords = [\"a\"]\n":   "neither OR nor AND",
		rule + "[[rules.allowlists]]\nregexTarget = \"all\"\nstopwords = [\"a\"]\n": "none of secret, match and line",
		"[extend]\npath = \"other.toml\"\n" + rule:                                  "extend",
		strings.Repeat(rule, maxRules+1):                                            "are more than",
		strings.Repeat("#", maxRuleFile+1):                                          "larger than",
	} {
		path := filepath.Join(t.TempDir(), "rules.toml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(path); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%.60q: %v, want %s", text, err, want)
		}
	}
	for _, path := range []string{t.TempDir(), filepath.Join(t.TempDir(), "none")} {
		if _, err := Load(path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// FuzzFind: no contents and no rule file make the search fail, and a finding has a line of the contents.
func FuzzFind(f *testing.F) {
	f.Add([]byte("-----BEGIN PRIVATE KEY-----\n" + body))
	f.Add([]byte("API_KEY = \"k3J9xQ2mVb7TzR8wLp4N\""))
	r := own(f)
	f.Fuzz(func(t *testing.T, content []byte) {
		for _, found := range r.Find("f", content) {
			if found.Line < 1 || found.Line > bytes.Count(content, []byte{'\n'})+1 {
				t.Errorf("line %d", found.Line)
			}
		}
	})
}
