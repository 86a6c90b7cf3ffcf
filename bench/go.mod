module github.com/seed-fb9cbc17/cairn/bench

go 1.26.0

require (
	github.com/google/go-cmp v0.7.0
	github.com/klauspost/compress v1.20.3
	github.com/seed-fb9cbc17/cairn v0.0.0
	golang.org/x/sys v0.49.0
)

require (
	github.com/gofrs/flock v0.13.1 // indirect
	github.com/hanwen/go-fuse/v2 v2.12.1 // indirect
)

replace github.com/seed-fb9cbc17/cairn => ../
