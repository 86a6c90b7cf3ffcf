package httpapi

import (
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/protocol"
)

// multistatus is what the tests look at in an answer to PROPFIND.
type multistatus struct {
	Responses []struct {
		Href     string `xml:"href"`
		Propstat []struct {
			Status string `xml:"status"`
			Prop   struct {
				Collection *struct{} `xml:"resourcetype>collection"`
				Name       string    `xml:"displayname"`
				Length     string    `xml:"getcontentlength"`
				Type       string    `xml:"getcontenttype"`
				Modified   string    `xml:"getlastmodified"`
				Tag        string    `xml:"getetag"`
				Executable string    `xml:"http://apache.org/dav/props/ executable"`
				Mode       string    `xml:"urn:cairn:dav mode"`
				Perm       string    `xml:"urn:cairn:dav perm"`
			} `xml:"prop"`
		} `xml:"propstat"`
	} `xml:"response"`
}

func (f *fixture) propfind(target, depth string) *http.Request {
	r := request(f.t, "PROPFIND", target, "")
	if depth != "" {
		r.Header.Set("Depth", depth)
	}
	return r
}

// hrefs lists a directory over WebDAV.
func (f *fixture) hrefs(target string) (list []string, all multistatus) {
	f.t.Helper()
	r := call(f.t, f.door, f.propfind(target, "1"))
	if r.status != http.StatusMultiStatus {
		f.t.Fatalf("%s: %d %s", target, r.status, r.body)
	}
	if err := xml.Unmarshal(r.body, &all); err != nil {
		f.t.Fatalf("%v in %s", err, r.body)
	}
	for _, one := range all.Responses {
		list = append(list, one.Href)
	}
	return list, all
}

// davTree has a name that is no UTF-8 where the system allows it, and one of each kind.
func davTree() gittest.Tree {
	tree := gittest.Tree{
		"a.txt": gittest.File("alpha\n"), "d/b.go": gittest.File("package b\n"), "run.sh": gittest.Exec("#!/bin/sh\n"),
		"empty": gittest.Dir(), "d/deep/bare": gittest.Dir(), "with space %41#?&.txt": gittest.File("odd\n"), "nothing": gittest.File(""),
		"page.html": gittest.File("<script>alert(1)</script>"), "big.bin": gittest.File(strings.Repeat("0123456789abcdef", 200_000)),
	}
	if runtime.GOOS != "windows" {
		tree["link"] = gittest.Link("../outside")
	}
	if runtime.GOOS == "linux" {
		tree["\xff\xfe<&>"] = gittest.File("bytes\n")
	}
	return tree
}

func TestDavListing(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("names of any bytes are those of Linux")
	}
	f := newFixture(t, davTree())
	var first, second protocol.Track
	f.call("POST", "/track", TrackRequest{Message: "the <first>\nmore"}).want(t, 200, &first)
	gittest.Create(t, f.root, gittest.Tree{"later": gittest.File("later\n")})
	f.call("POST", "/track", TrackRequest{Message: "the second"}).want(t, 200, &second)
	f.call("PUT", "/pins/good", map[string]string{"hash": first.Checkpoint}).want(t, 204, nil)

	list, all := f.hrefs("/dav/")
	form := regexp.MustCompile(`^/dav/\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ-([0-9a-f]{12})/$`)
	if len(list) != 5 || list[0] != "/dav/" || list[1] != "/dav/@/" || list[4] != "/dav/good/" {
		t.Fatalf("%q", list)
	}
	for i, id := range []string{second.Checkpoint, first.Checkpoint} {
		if m := form.FindStringSubmatch(list[2+i]); m == nil || m[1] != id[:12] {
			t.Errorf("%q does not name %s", list[2+i], id)
		}
	}
	if p := all.Responses[0].Propstat[0].Prop; p.Modified != "Thu, 01 Jan 1970 00:00:00 GMT" {
		t.Errorf("date of the top: %q", p.Modified)
	}
	if name := all.Responses[4].Propstat[0].Prop.Name; name != "good" {
		t.Errorf("name %q", name)
	}

	want := []string{
		"/dav/good/", "/dav/good/a.txt", "/dav/good/big.bin", "/dav/good/d/", "/dav/good/empty/", "/dav/good/link", "/dav/good/nothing",
		"/dav/good/page.html", "/dav/good/run.sh", "/dav/good/with%20space%20%2541%23%3F&.txt", "/dav/good/%FF%FE%3C&%3E",
	}
	got, all := f.hrefs("/dav/good")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, spec := range []string{"@~1", first.Hash, first.Checkpoint[:8], strings.Trim(strings.TrimPrefix(list[3], "/dav"), "/")} {
		if other, _ := f.hrefs("/dav/" + spec + "/"); len(other) != len(want) {
			t.Errorf("%s: %q", spec, other)
		}
	}
	kinds := make(map[string]string)
	for _, one := range all.Responses {
		if p := one.Propstat[0].Prop; p.Collection == nil {
			kinds[strings.TrimPrefix(one.Href, "/dav/good/")] = strings.Join([]string{p.Length, p.Type, p.Executable, p.Mode, p.Perm}, " ")
			if p.Tag == "" || p.Modified == "" {
				t.Errorf("%s: %+v", one.Href, p)
			}
		}
	}
	for name, want := range map[string][]string{
		"run.sh": {"10", "T", "100755", "0755"}, "link": {"10", "inode/symlink", "120000"}, "a.txt": {"6", "text/plain;", "charset=utf-8", "F", "100644", "0644"},
	} {
		got := strings.Fields(kinds[name])
		if name == "run.sh" { // its type is that of the system's table
			got = slices.Delete(got, 1, 2)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(name, diff)
		}
	}
	if got, _ := f.hrefs("/dav/good/d/deep/bare/"); len(got) != 1 {
		t.Errorf("%q", got)
	}
	if got, _ := f.hrefs("/dav/good/d"); !slices.Equal(got, []string{"/dav/good/d/", "/dav/good/d/b.go", "/dav/good/d/deep/"}) {
		t.Errorf("%q", got)
	}
}

// TestDavContents: every href of a listing gives the bytes that the disk had, by GET and by ranges.
func TestDavContents(t *testing.T) {
	t.Parallel()
	tree := davTree()
	f := newFixture(t, tree)
	f.track()
	seen := make(map[string]string)
	var walk func(target string)
	walk = func(target string) {
		list, all := f.hrefs(target)
		for i, href := range list[1:] {
			if all.Responses[i+1].Propstat[0].Prop.Collection != nil {
				walk(href)
				continue
			}
			name, err := url.PathUnescape(strings.TrimPrefix(href, "/dav/@/"))
			r := f.call("GET", href, nil)
			if err != nil || r.status != 200 || r.header.Get("ETag") != all.Responses[i+1].Propstat[0].Prop.Tag {
				t.Errorf("%s: %d %v", href, r.status, err)
			}
			if kind := r.header.Get("Content-Type"); (name == "link") != (kind == "inode/symlink") {
				t.Errorf("%s: %s", href, kind)
			}
			if r.header.Get("Content-Security-Policy") == "" || strings.Contains(r.header.Get("Content-Type"), "html") {
				t.Errorf("%s could run: %v", href, r.header)
			}
			seen[name] = string(r.body)
			head := f.call("HEAD", href, nil)
			if head.status != 200 || len(head.body) != 0 || head.header.Get("Content-Length") != fmt.Sprint(len(r.body)) {
				t.Errorf("HEAD %s: %d %v", href, head.status, head.header)
			}
		}
	}
	walk("/dav/@/")
	want := make(map[string]string)
	for name := range tree {
		full := filepath.Join(f.root, name)
		info, err := os.Lstat(full)
		switch {
		case err != nil:
			t.Fatal(err)
		case info.IsDir():
		case info.Mode()&os.ModeSymlink != 0:
			want[name], _ = os.Readlink(full)
		default:
			text, err := os.ReadFile(full)
			if err != nil {
				t.Fatal(err)
			}
			want[name] = string(text)
		}
	}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Error(diff)
	}

	whole := want["big.bin"]
	for _, c := range []struct {
		value, want string
		status      int
	}{
		{"bytes=0-9", whole[:10], 206}, {"bytes=2000000-2000009", whole[2000000:2000010], 206}, {"bytes=-5", whole[len(whole)-5:], 206},
		{"bytes=10-19", whole[10:20], 206}, {"bytes=99999999-", "", 416},
	} {
		r := request(t, "GET", "/dav/@/big.bin", nil)
		r.Header.Set("Range", c.value)
		if got := call(t, f.door, r); got.status != c.status || c.status == 206 && string(got.body) != c.want {
			t.Errorf("%s: %d, %d bytes", c.value, got.status, len(got.body))
		}
	}
	r := request(t, "GET", "/dav/@/a.txt", nil)
	r.Header.Set("If-None-Match", f.call("HEAD", "/dav/@/a.txt", nil).header.Get("ETag"))
	if got := call(t, f.door, r); got.status != http.StatusNotModified {
		t.Errorf("%d", got.status)
	}
}

// TestDavDates: the date of a checkpoint does not tell whether the client has the content of an address. The address may
// name an older checkpoint now, or one of the same second.
func TestDavDates(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("older\n")})
	older := f.track()
	f.write("a", "newer\n")
	f.call("PUT", "/pins/here", map[string]string{"hash": f.track()}).want(t, 204, nil)
	date := f.call("HEAD", "/dav/here/a", nil).header.Get("Last-Modified")
	f.call("DELETE", "/pins/here", nil).want(t, 204, nil)
	f.call("PUT", "/pins/here", map[string]string{"hash": older}).want(t, 204, nil)
	for _, header := range [][]string{{"If-Modified-Since", date}, {"If-Range", date, "Range", "bytes=2-"}} {
		r := request(t, "GET", "/dav/here/a", nil)
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		if got := call(t, f.door, r); got.status != 200 || string(got.body) != "older\n" {
			t.Errorf("%q: %d %q", header, got.status, got.body)
		}
	}
}

func TestDavMethods(t *testing.T) {
	t.Parallel()
	f := newFixture(t, someTree)
	f.track()
	for _, target := range []string{"/dav", "/dav/", "/dav/@/", "/dav/@/a.txt", "/dav/@/new", "/dav/none/x"} {
		for _, method := range []string{"PUT", "POST", "DELETE", "MKCOL", "COPY", "MOVE", "PROPPATCH", "LOCK", "UNLOCK", "PATCH"} {
			r := f.call(method, target, strings.Repeat("x", DefaultMaxBody+1))
			r.problem(t, 405, "bad-request")
			if r.header.Get("Allow") != davMethods {
				t.Errorf("%s %s: %v", method, target, r.header)
			}
		}
		r := f.call("OPTIONS", target, nil)
		if r.status != 200 || r.header.Get("DAV") != "1" || r.header.Get("Allow") != davMethods {
			t.Errorf("OPTIONS %s: %d %v", target, r.status, r.header)
		}
	}
	for _, depth := range []string{"", "infinity", "2", "-1"} {
		r := call(t, f.door, f.propfind("/dav/@/", depth))
		if r.status != 403 || !strings.Contains(string(r.body), "propfind-finite-depth") {
			t.Errorf("depth %q: %d %s", depth, r.status, r.body)
		}
	}
	for target, status := range map[string]int{
		"/dav/none/": 404, "/dav/@/none": 404, "/dav/@/a.txt/x": 404, "/dav/@~9/": 404, "/dav/@/d/none/x": 404, "/dav/@/%00": 404, "/dav/@/d/../a.txt": 404,
	} {
		if r := call(t, f.door, f.propfind(target, "0")); r.status != status {
			t.Errorf("%s: %d, not %d %s", target, r.status, status, r.body)
		}
	}
	f.call("GET", "/dav/@/d", nil).problem(t, 405, "bad-request")
	bad := request(t, "PROPFIND", "/dav/@/", "<nonsense")
	bad.Header.Set("Depth", "1")
	if r := call(t, f.door, bad); r.status != 400 {
		t.Errorf("%d %s", r.status, r.body)
	}
}

// TestDavToken: the same token as elsewhere, also as the password of a file manager, which gets in
// nowhere else.
func TestDavToken(t *testing.T) {
	t.Parallel()
	f := newFixture(t, someTree)
	f.track()
	d := tokenDoor(f)
	basic := func(password string) string {
		return "Basic " + base64.StdEncoding.EncodeToString([]byte("anyone:"+password))
	}
	for _, c := range []struct {
		target, authorization string
		status                int
	}{
		{"/dav/@/a.txt", "", 401}, {"/dav/@/a.txt", "Bearer " + testToken, 200}, {"/dav/@/a.txt", basic(testToken), 200},
		{"/dav/@/a.txt", basic("wrong"), 401}, {"/dav/@/a.txt", basic(""), 401}, {"/status", basic(testToken), 401}, {"/davx", basic(testToken), 401},
		{"/project/" + cairn.ProjectID(f.root) + "/dav/@/a.txt", basic(testToken), 200},
		{"/project/" + cairn.ProjectID(f.root) + "/status", basic(testToken), 401},
	} {
		r := from(t, "GET", c.target)
		if c.authorization != "" {
			r.Header.Set("Authorization", c.authorization)
		}
		got := call(t, d, r)
		if got.status != c.status {
			t.Errorf("%s with %q: %d, not %d", c.target, c.authorization, got.status, c.status)
		}
		offers := slices.ContainsFunc(got.header["Www-Authenticate"], func(v string) bool { return strings.HasPrefix(v, "Basic") })
		if c.status == 401 && offers != strings.Contains(c.target, "/dav/") {
			t.Errorf("%s: %q", c.target, got.header["Www-Authenticate"])
		}
	}
	if r := call(t, d, from(t, "OPTIONS", "/dav/")); r.status != 401 {
		t.Errorf("OPTIONS: %d", r.status)
	}
	if r := call(t, d, from(t, "GET", "/dav/@/a.txt", "Authorization", basic(testToken), "Sec-Fetch-Site", "cross-site")); r.status != 403 {
		t.Errorf("another site: %d", r.status)
	}
}

// TestDavProjects: several projects are listed by name; the checkpoints of the default one stay where
// they were.
func TestDavProjects(t *testing.T) {
	t.Parallel()
	f := newFixture(t, someTree)
	f.track()
	second := filepath.Join(filepath.Dir(f.root), "second")
	gittest.Create(t, second, gittest.Tree{"s": gittest.File("s\n")})
	f.call("POST", "/projects", map[string]any{"directory": second, "exact": true}).want(t, 200, nil)
	first, other := "project-"+cairn.ProjectID(f.root), "second-"+cairn.ProjectID(second)
	if list, _ := f.hrefs("/dav/"); !slices.Equal(list, []string{"/dav/", "/dav/" + first + "/", "/dav/" + other + "/"}) {
		t.Errorf("%q", list)
	}
	if r := call(t, f.door, f.propfind("/dav/"+other+"/", "1")); r.status != 404 { // never tracked
		t.Errorf("%d %s", r.status, r.body)
	}
	f.call("POST", "/track?directory="+url.QueryEscape(second), struct{}{}).want(t, 200, nil)
	for target, want := range map[string]string{
		"/dav/@/a.txt": "alpha\n", "/dav/" + first + "/@/a.txt": "alpha\n", "/dav/" + cairn.ProjectID(second) + "/@/s": "s\n",
		"/dav/" + other + "/@/s": "s\n", "/project/" + cairn.ProjectID(second) + "/dav/@/s": "s\n",
		"/dav/@/s?directory=" + url.QueryEscape(second): "s\n",
	} {
		if r := f.call("GET", target, nil); r.status != 200 || string(r.body) != want {
			t.Errorf("%s: %d %q", target, r.status, r.body)
		}
	}
	prefix := "/project/" + cairn.ProjectID(second) + "/dav"
	if list, _ := f.hrefs(prefix + "/@"); !slices.Equal(list, []string{prefix + "/@/", prefix + "/@/s"}) {
		t.Errorf("%q", list)
	}
}

// davServer is a server that programs can reach.
func davServer(t *testing.T) (f *fixture, address string) {
	t.Helper()
	f = newFixture(t, davTree())
	f.track()
	web := httptest.NewUnstartedServer(nil)
	web.Config.Handler = f.server.TokenDoor(testToken, "8390", nil)
	web.Start()
	t.Cleanup(web.Close)
	return f, web.URL + "/dav/@/"
}

// program runs a program that a test needs, in an environment of its own.
func program(t *testing.T, name string, args ...string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("no %s here", name)
	}
	cmd := exec.CommandContext(t.Context(), path, args...)
	home := t.TempDir()
	cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "RCLONE_CONFIG=" + filepath.Join(home, "rclone.conf"), "LC_ALL=C.UTF-8"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
	return string(out)
}

// sameFiles compares the files of a directory with those of the project, as far as their names are
// characters. A symlink of the project is a file there.
func sameFiles(t *testing.T, f *fixture, dir string, skip ...string) {
	t.Helper()
	read := func(top string) map[string]string {
		files := make(map[string]string)
		err := filepath.WalkDir(top, func(path string, d os.DirEntry, err error) error {
			name, _ := filepath.Rel(top, path)
			if err != nil || d.IsDir() || strings.HasPrefix(name, "\xff") || slices.Contains(skip, name) {
				return err
			}
			if d.Type()&os.ModeSymlink != 0 {
				files[name], err = os.Readlink(path)
				return err
			}
			text, err := os.ReadFile(path)
			files[name] = string(text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return files
	}
	want, got := read(f.root), read(dir)
	maps.DeleteFunc(got, func(name, _ string) bool { return want[name] == "" && strings.Contains(name, "\uFFFD") })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestDavCurl(t *testing.T) {
	t.Parallel()
	f, address := davServer(t)
	whole, err := os.ReadFile(filepath.Join(f.root, "big.bin"))
	if err != nil {
		t.Fatal(err)
	}
	if got := program(t, "curl", "-sSf", "-u", ":"+testToken, address+"big.bin"); got != string(whole) {
		t.Errorf("%d bytes", len(got))
	}
	if got := program(t, "curl", "-sSf", "-H", "Authorization: Bearer "+testToken, "-r", "1000000-1000015", address+"big.bin"); got != string(whole[1000000:1000016]) {
		t.Errorf("%q", got)
	}
	if got := program(t, "curl", "-sS", "-u", ":"+testToken, "-T", filepath.Join(f.root, "a.txt"), "-o", filepath.Join(t.TempDir(), "answer"), "-w", "%{http_code}", address+"a.txt"); got != "405" {
		t.Errorf("upload: %s", got)
	}
}

func TestDavRclone(t *testing.T) {
	t.Parallel()
	f, address := davServer(t)
	dir := filepath.Join(t.TempDir(), "copy")
	program(t, "rclone", "copy", "--webdav-url", address, "--webdav-bearer-token", testToken, ":webdav:", dir)
	sameFiles(t, f, dir)
}

// TestDavMounted mounts a checkpoint with davfs2, in a mount namespace of its own.
func TestDavMounted(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("mount.davfs"); err != nil || os.Geteuid() != 0 {
		t.Skip("no davfs2 here, or not root")
	}
	f, address := davServer(t)
	dir := t.TempDir()
	for name, text := range map[string]string{
		"conf":    fmt.Sprintf("secrets %s/secrets\nuse_locks 0\nask_auth 0\n", dir),
		"secrets": fmt.Sprintf("%s anyone %s\n", address, testToken),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const script = `cd "$1" && mkdir mnt && mount --make-rprivate / && mkdir -p /var/run/mount.davfs || exit 9
for own in /var/cache/davfs2 /var/run/mount.davfs; do
	mount -t tmpfs -o mode=1777 tmpfs $own || exit 9
done
mount.davfs -o ro,conf="$1/conf" "$2" mnt || exit 9
ls mnt || { umount mnt; exit 9; } # Linux 6 refuses the version of FUSE that davfs2 1.6 speaks
cp -r mnt copy; status=$?
: 2>/dev/null >mnt/new && status=8
umount mnt && exit $status`
	out, err := exec.CommandContext(t.Context(), "unshare", "-m", "sh", "-c", script, "sh", dir, address).CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 9 {
		t.Skipf("davfs2 cannot mount here: %s", out)
	}
	if err != nil {
		t.Fatalf("%v %s", err, out)
	}
	copied := filepath.Join(dir, "copy")
	sameFiles(t, f, copied)
	if info, err := os.Stat(filepath.Join(copied, "run.sh")); err != nil || info.Mode()&0o100 == 0 {
		t.Errorf("%v, %v: not executable", info, err)
	}
}
