package main

import "fmt"

// history is a module and the versions of it to compare, each with the next. The
// versions are pinned so that every run sees the same files; the checksum
// database of the go command vouches for their content.
type history struct {
	module   string
	versions []string
}

// minors lists the versions with the minor numbers first to last.
func minors(format string, first, last int) []string {
	var versions []string
	for n := first; n <= last; n++ {
		versions = append(versions, fmt.Sprintf(format, n))
	}
	return versions
}

// histories are chosen for many versions, different kinds of text (code, generated
// code, markup, tables, test data) and small archives.
var histories = []history{
	{"golang.org/x/tools", minors("v0.%d.0", 10, 38)},
	{"golang.org/x/net", minors("v0.%d.0", 28, 46)},
	{"golang.org/x/sys", minors("v0.%d.0", 28, 36)},
	{"google.golang.org/grpc", minors("v1.%d.0", 48, 73)},
	{"go.opentelemetry.io/otel", minors("v1.%d.0", 16, 38)},
	{"k8s.io/client-go", minors("v0.%d.0", 20, 34)},
	{"k8s.io/apimachinery", minors("v0.%d.0", 20, 34)},
	{"sigs.k8s.io/controller-runtime", minors("v0.%d.0", 10, 22)},
	{"google.golang.org/protobuf", []string{
		"v1.26.0", "v1.27.1", "v1.28.0", "v1.28.1", "v1.29.1", "v1.30.0", "v1.31.0", "v1.32.0", "v1.33.0", "v1.34.0",
		"v1.34.2", "v1.35.0", "v1.36.0", "v1.36.4", "v1.36.6", "v1.36.10",
	}},
	{"github.com/spf13/cobra", []string{
		"v0.0.1", "v0.0.3", "v0.0.5", "v1.0.0", "v1.1.1", "v1.1.3", "v1.2.1", "v1.3.0", "v1.4.0", "v1.5.0", "v1.6.0",
		"v1.7.0", "v1.8.0", "v1.9.1", "v1.10.0",
	}},
	{"github.com/gin-gonic/gin", []string{
		"v1.3.0", "v1.4.0", "v1.5.0", "v1.6.3", "v1.7.0", "v1.7.7", "v1.8.1", "v1.9.0", "v1.10.0", "v1.11.0",
	}},
	{"github.com/labstack/echo/v4", []string{
		"v4.1.16", "v4.2.1", "v4.5.0", "v4.7.2", "v4.8.0", "v4.9.0", "v4.10.0", "v4.11.1", "v4.12.0", "v4.13.2", "v4.14.0",
	}},
	{"github.com/prometheus/prometheus", []string{"v0.54.0", "v0.300.0", "v0.303.0", "v0.306.0", "v0.308.0"}},
	{"github.com/aws/aws-sdk-go-v2/service/ec2", []string{"v1.321.0", "v1.325.0", "v1.330.0", "v1.335.0", "v1.340.0"}},
}
