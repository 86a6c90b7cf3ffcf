package secrets

import (
	"slices"
	"strings"
	"testing"
)

// made puts tokens together while the test runs: no whole one stands in the source, where a scanner
// of a git host would find it.
func made(parts ...string) string { return strings.Join(parts, "") }

var (
	hex32  = "0123456789abcdef0123456789abcdef"
	word36 = "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
	word64 = word36 + "S9t0U1v2W3x4Y5z6A7b8C9d0E1f2"
)

// TestMask_Tokens: each token is masked wherever it stands, with the name of its rule, and nothing
// beside it is.
func TestMask_Tokens(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ rule, token string }{
		{"aws-access-key", made("AKIA", "IOSFODNN7EXAMPLE")},
		{"aws-access-key", made("ASIA", "Y34FZKBOKMUTVV7A")},
		{"github-token", made("ghp_", word36)},
		{"github-token", made("ghs_", word36)},
		{"github-token", made("github_pat_", "11ABCDEFG0", "abcdefghijkl_", word36)},
		{"gitlab-token", made("glpat-", "a1B2c3D4e5F6g7H8i9J0")},
		{"gitlab-token", made("glpat-", "a1B2c3D4e5F6g7H8i9J0a1B2", ".01.0a1b2c3d4")},
		{"slack-token", made("xoxb-", "123456789012-1234567890123-", "abcdefABCDEF")},
		{"slack-token", made("xapp-", "1-A0123-456-", hex32)},
		{"stripe-key", made("sk_live_", "4eC39HqLyjWDarjtT1zdp7dc")},
		{"stripe-key", made("rk_test_", "4eC39HqLyjWDarjtT1zdp7dc")},
		{"stripe-key", made("whsec_", hex32)},
		{"anthropic-key", made("sk-ant-", "api03-", word36, "-", word36, "AA")},
		{"anthropic-key", made("sk-ant-", "oat01-", word36)},
		{"openai-key", made("sk-", word36)},
		{"openai-key", made("sk-proj-", word36, "_-", word36)},
		{"openrouter-key", made("sk-or-", "v1-", hex32, hex32)},
		{"google-key", made("AIza", "SyA1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q")},
		{"google-key", made("GOCSPX-", "A1b2C3d4E5f6G7h8I9j0K1l2M3n4")},
		{"npm-token", made("npm_", word36)},
		{"pypi-token", made("pypi-", "AgEIcHlwaS5vcmc", word64)},
		{"docker-token", made("dckr_pat_", "A1b2C3d4E5f6G7h8I9j0K1l2M3n")},
		{"huggingface-token", made("hf_", "AbCdEfGhIjKlMnOpQrStUvWxYzAbCdEfGh")},
		{"groq-key", made("gsk_", word64)},
		{"xai-key", made("xai-", word64)},
		{"sendgrid-key", made("SG.", "A1b2C3d4E5f6G7h8I9j0Kw", ".", word36, "A1b2C3d")},
		{"twilio-key", made("SK", hex32)},
		{"digitalocean-token", made("dop_v1_", hex32, hex32)},
		{"shopify-token", made("shpat_", hex32)},
		{"databricks-token", made("dapi", hex32)},
		{"vault-token", made("hvs.", word36)},
		{"linear-key", made("lin_api_", word36, "A1b2")},
		{"atlassian-token", made("ATATT3", word64)},
		{"age-key", made("AGE-SECRET-KEY-1", strings.Repeat("Q2W", 19), "Z")},
		{"jwt", made("eyJ", "hbGciOiJIUzI1NiJ9", ".", "eyJ", "zdWIiOiIxMjM0In0", ".", "SflKxwRJSMeKKF2QT4fw")},
	} {
		mask := "[masked: " + c.rule + "]"
		for _, around := range []string{"%", "use % please", "(%)", "\"%\"", "TOKEN='%'", "x=%\ny", "`%`", "https://%@git.example/x", "curl -H 'Authorization: Bearer %'", "%.", "%, %"} {
			want := strings.ReplaceAll(around, "%", mask)
			if got := Mask(strings.ReplaceAll(around, "%", c.token)); got != want {
				t.Errorf("%s: %s gives %s, not %s", c.rule, around, redact(got, c.token), want)
			}
		}
	}
}

// redact keeps the token out of the test's own output.
func redact(text, token string) string { return strings.ReplaceAll(text, token, "<not masked>") }

// TestMask_InContext: the secret goes, what it belongs to stays.
func TestMask_InContext(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"password=hunter2":                                                "password=[masked: password]",
		"password=secret":                                                 "password=[masked: password]",
		"my password is password: hunter2, use it":                        "my password is password: [masked: password], use it",
		"PGPASSWORD=swordfish psql":                                       "PGPASSWORD=[masked: password] psql",
		"DB_PASS" + "WORD: \"correct horse battery\"":                     "DB_PASSWORD: \"[masked: password]\"",
		"passwd = 'p@ss w0rd'":                                            "passwd = '[masked: password]'",
		"pwd: 123456":                                                     "pwd: [masked: password]",
		"token=abc123":                                                    "token=[masked: secret]",
		"GET /x?token=abcdefgh&page=2":                                    "GET /x?token=[masked: secret]&page=2",
		`{"api_key": "0a1b2c3d4e", "name": "x"}`:                          `{"api_key": "[masked: secret]", "name": "x"}`,
		`{"apiKey":"qwertyuiop"}`:                                         `{"apiKey":"[masked: secret]"}`,
		"export API_TOKEN_PROD=zxcvbnm":                                   "export API_TOKEN_PROD=[masked: secret]",
		"client_secret := \"zxcvbnm\"":                                    "client_secret := \"[masked: secret]\"",
		"x-api-key: 0a1b2c3d4e":                                           "x-api-key: [masked: secret]",
		"mysql --password=swordfish":                                      "mysql --password=[masked: password]",
		"mysql --password sw0rdfish db":                                   "mysql --password [masked: password] db",
		"gh --token abcdef123456 x":                                       "gh --token [masked: secret] x",
		"postgres://app:swordfish@db.example/app":                         "postgres://app:[masked: url-password]@db.example/app",
		"https://user:pass@host/x":                                        "https://user:[masked: url-password]@host/x",
		"redis://:swordfish@[::1]:6379":                                   "redis://:[masked: url-password]@[::1]:6379",
		"Authorization: Basic dXNlcjpwYXNz":                               "Authorization: Basic [masked: authorization]",
		"-H \"authorization: Bearer qwertz\"":                             "-H \"authorization: Bearer [masked: authorization]\"",
		"bearer A1b2C3d4E5f6G7h8I9j0K1":                                   "bearer [masked: authorization]",
		"curl -s -u admin:swordfish https://x.example":                    "curl -s -u admin:[masked: password] https://x.example",
		made("bot 110201543:", "AA", "HdqTcvCH1vGWJxfSeofSAs0K5PALDsawF"): "bot 110201543:[masked: telegram-token]",
		made("aws_secret_access_key = ", word36, "/+A1"):                  "aws_secret_access_key = [masked: aws-secret-key]",
		made("SecretAccessKey\": \"", word36, "/+A1", `"`):                "SecretAccessKey\": \"[masked: aws-secret-key]\"",
		made("https://hooks.slack.com/", "services/T00000000/B00000000/", "XXXXXXXXXXXXXXXXXXXXXXXX"): "https://hooks.slack.com/services/[masked: slack-webhook]",
		made("AccountKey=", word64, word36[:22], "==;Endpoint"):                                       "AccountKey=[masked: azure-key];Endpoint",
	} {
		if got := Mask(text); got != want {
			t.Errorf("%s\n gives %s\n   not %s", text, got, want)
		}
	}
}

func TestMask_PrivateKeys(t *testing.T) {
	t.Parallel()
	line := word64 + "\n"
	begin, end := made("-----BEGIN ", "RSA PRIVATE KEY-----"), made("-----END ", "RSA PRIVATE KEY-----")
	const mask = "[masked: private-key]"
	for text, want := range map[string]string{
		"use\n" + begin + "\n" + line + line + end + "\nfor it":                                              "use\n" + mask + "\nfor it",
		begin + "\nProc-Type: 4,ENCRYPTED\n\n" + line + end:                                                  mask,
		`{"key": "` + begin + `\n` + word64 + `\n` + end + `\n"}`:                                            `{"key": "` + mask + `\n"}`,
		"cut off: " + begin + "\n" + line + line:                                                             "cut off: " + mask,
		begin + "\n" + line + end + " and " + begin + "\n" + line + end:                                      mask + " and " + mask,
		strings.ReplaceAll(begin, "RSA ", "") + line + strings.ReplaceAll(end, "RSA ", ""):                   mask,
		made("-----BEGIN ", "PGP PRIVATE KEY BLOCK-----\n", line, "-----END ", "PGP PRIVATE KEY BLOCK-----"): mask,
		"the header " + begin + " is missing in the file":                                                    "the header " + begin + " is missing in the file",
		"-----BEGIN PUBLIC KEY-----\n" + line + "-----END PUBLIC KEY-----":                                   "-----BEGIN PUBLIC KEY-----\n" + line + "-----END PUBLIC KEY-----",
	} {
		if got := Mask(text); got != want {
			t.Errorf("%q\n gives %q\n   not %q", text, got, want)
		}
	}
}

// TestMask_LeavesAlone: texts about secrets, and source code, hold none.
func TestMask_LeavesAlone(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "tidy up", "Explain what a token is.", "add a password: field to the form", "the secret: keep functions small",
		"password: must be at least 8 characters", "token: something", "rename token to accessToken",
		"token = next(tokens)", "token := lexer.Next()", "password = input()", "token = parser.current", "password=self.password",
		"const token = await getToken();", "secret = os.environ[\"SECRET\"]", "token == other1", "if password == 'hunter2x' {",
		"max_tokens=4096", "token_count: 512", "total_tokens = 15000000", "tokens: 1234567", "TokenType=Bearer1",
		"tokenizer = Bert4Tokenizer", "secretary: \"Alice\"", "token_url=https://x.example/1", "password_hint=dog1234",
		"PASSWORD=$PASSWORD", "PASSWORD=${DB_PASSWORD}", "token: <your token>", "api_key=your_api_key_here", "token=***", "password=xxxxxxxx",
		"Authorization: Bearer $TOKEN", "Authorization: Bearer <token>", "bearer authentication-of-the-user",
		"postgres://app:$PASSWORD@db/app", "https://host:8080/a@b", "http://[::1]:80/@x", "ssh://git@host:22/x", "user@host:path",
		"docker run -u 1000:1000 x", "curl -u $USER:$PASS https://x.example",
		"commit 835b914b0d1f5be5d7b1b3c4a5968778695a4b3c", "sha256:" + hex32 + hex32, "task-list sk-learn ask-me risk-free",
		"git_hub_ghp_short", "eyJust.a.sentence", "SKIP", "AKIA", "npm_config_registry", "hf_short", "xoxo-", "--token in the docs",
		"key: value", "primary_key=order_id", "keyboard=qwerty12", "monkey=banana12", "token_id=abc123", "secret/path.txt", "API keys: see docs/keys1.md",
		"private_key=./id_ed25519", "secret_file: /run/secrets/db1", "password: string", "token: null", "\"password\": \"password\"",
	} {
		if got := Mask(text); got != text {
			t.Errorf("%s\n gives %s", text, got)
		}
	}
}

// TestFind_Places: findings are in order, apart, and the places of the secrets alone.
func TestFind_Places(t *testing.T) {
	t.Parallel()
	text := made("é token=ghp_", word36, " and https://u:pw12@h, ghp_", word36)
	var got []string
	at := 0
	for _, f := range Find(text) {
		if f.Start < at || f.End <= f.Start {
			t.Errorf("%+v overlaps or is empty", f)
		}
		got = append(got, f.Rule+" "+text[f.Start:f.End])
		at = f.End
	}
	want := []string{"github-token ghp_" + word36, "url-password pw12", "github-token ghp_" + word36}
	if !slices.Equal(got, want) {
		t.Errorf("%q, not %q", got, want)
	}
}

// TestRules: an expression that is wrong, or a keyword that its own text has not, would only be
// noticed with the text of a user.
func TestRules(t *testing.T) {
	t.Parallel()
	for _, r := range rules() {
		if r.compiled() == nil || len(r.keywords) == 0 && r.id != privateKey || slices.Contains(r.keywords, "") {
			t.Errorf("%s", r.id)
		}
		for _, word := range r.keywords {
			if r.anyCase && word != strings.ToLower(word) {
				t.Errorf("%s: %s is compared with a text in lower case", r.id, word)
			}
		}
		if Mask("[masked: "+r.id+"]") != "[masked: "+r.id+"]" {
			t.Errorf("%s: the mask is a secret", r.id)
		}
	}
}

func FuzzMask(f *testing.F) {
	for _, seed := range []string{
		"password=hunter2", "token: 'a b'", "https://u:p@h", "Authorization: Bearer a1b2c3d4", made("x=ghp_", word36), "pwd==1234", "secret=[masked: x]y1",
		made("-----BEGIN ", "PRIVATE KEY-----\n", word64), "\"api_key\": \"0a1b2c3d4e\"", "curl -u a:b1 c", "token=token=token=abc1", "--password sw0rdfish",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		found := Find(text)
		at := 0
		for _, one := range found {
			if one.Start < at || one.End <= one.Start || one.End > len(text) || one.Rule == "" {
				t.Fatalf("%+v of %q", found, text)
			}
			at = one.End
		}
		masked := Mask(text)
		if len(found) == 0 && masked != text {
			t.Fatalf("%q gives %q", text, masked)
		}
		if again := Mask(masked); again != masked {
			t.Fatalf("%q\n gives %q\n then %q", text, masked, again)
		}
	})
}

func BenchmarkMask(b *testing.B) {
	prose := strings.Repeat("Please rename the function that reads the tokens of the user and keep the passwords out of the log. ", 160)
	for name, text := range map[string]string{"short": "tidy up the tests", "16KiB": prose} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				Mask(text)
			}
		})
	}
}

// TestMaskBeginning: a secret that the cut goes through is masked as a whole, and no character is
// cut in two.
func TestMaskBeginning(t *testing.T) {
	t.Parallel()
	token := made("ghp_", word36)
	const mask = "[masked: github-token]"
	if got := MaskBeginning("é "+token+" é", 100); got != "é "+mask+" é" {
		t.Errorf("%q", got)
	}
	for n := 12; n < 60; n++ {
		if got := MaskBeginning("é "+token+" é", n); !strings.HasPrefix("é "+mask+" é", got) || len(got) > n {
			t.Errorf("%d: %q", n, got)
		}
	}
}
