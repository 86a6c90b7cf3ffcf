#!/bin/sh
# Installs a release of cairn below PREFIX, /usr/local unless set. The options of the feature come as
# VERSION and RELEASES. What does not have the checksum of SHA256SUMS is not unpacked.
set -eu

fail() {
  echo "cairn: $*" >&2
  exit 1
}

[ -n "${VERSION:-}" ] || fail "the option version is missing, as in 1.2.3"
[ -n "${RELEASES:-}" ] || fail "the option releases is missing: the address of the directory with the files of the release"
case $(uname -m) in
x86_64) arch=amd64 ;;
aarch64 | arm64) arch=arm64 ;;
*) fail "there is no release for $(uname -m)" ;;
esac
prefix=${PREFIX:-/usr/local}
name=cairn_${VERSION}_linux_$arch.tar.gz
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

load() {
  if command -v curl >/dev/null; then
    curl -fsSL -o "$dir/$1" "$RELEASES/$1" || fail "$RELEASES/$1 cannot be loaded"
  elif command -v wget >/dev/null; then
    wget -q -O "$dir/$1" "$RELEASES/$1" || fail "$RELEASES/$1 cannot be loaded"
  else
    fail "neither curl nor wget is installed"
  fi
}

load SHA256SUMS
load "$name"
grep "  $name\$" "$dir/SHA256SUMS" >"$dir/sum" || fail "SHA256SUMS has no $name"
(cd "$dir" && sha256sum -c --quiet sum) || fail "$name does not have the checksum that the release names"
mkdir -p "$prefix"
tar -xzf "$dir/$name" -C "$prefix" --strip-components=1 --no-same-owner
[ -n "${PREFIX:-}" ] || { mkdir -p /var/lib/cairn && chmod 1777 /var/lib/cairn; }
