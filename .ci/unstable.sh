# What the scripts share that use newer programs than this system has: the packages of Debian's
# unstable distribution, of which nothing is installed. A script that reads this sets dir, the
# directory where all of it lies.

skip() { echo "SKIPPED: $what: $*" >&2; exit "${skipped:-0}"; }

# unstable_lists fetches the lists of packages, which are apart from the system's own.
unstable_lists() {
  local mirror
  command -v apt-get >/dev/null || skip "there is no apt"
  mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' 'Origin: Debian' |
    grep -v security | sed -n 1p)
  [ -n "$mirror" ] || skip "apt has no source of Debian"
  mkdir -p "$dir/state/lists/partial" "$dir/cache/archives/partial"
  printf 'deb %s unstable main\ndeb-src %s unstable main\n' "$mirror" "$mirror" >"$dir/sources.list"
  apt_here update || skip "the lists of packages cannot be had"
}

# apt_here is apt-get with those lists.
apt_here() {
  (cd "$dir" && apt-get -qq -o Dir::Etc::sourcelist="$dir/sources.list" -o Dir::Etc::sourceparts=- \
    -o Dir::State="$dir/state" -o Dir::Cache="$dir/cache" -o Dir::State::status=/var/lib/dpkg/status \
    -o APT::Sandbox::User=root "$@")
}

# build_git builds the newest git in $dir/git.
build_git() {
  command -v cc >/dev/null && command -v make >/dev/null || skip "there is no C compiler, or no make"
  unstable_lists
  apt_here --download-only source git || skip "its sources cannot be had"
  (cd "$dir" && tar xf git_*.orig.tar.xz && rm -rf state cache git_*.tar.xz git_*.dsc)
  make -C "$dir"/git-[0-9]* -s -j"$(nproc)" prefix="$dir/git" CFLAGS=-O2 INSTALL_SYMLINKS=1 NO_CURL=1 NO_EXPAT=1 \
    NO_GETTEXT=1 NO_OPENSSL=1 NO_PERL=1 NO_PYTHON=1 NO_RUST=1 NO_TCLTK=1 install >"$dir/build.log" 2>&1 ||
    { tail -20 "$dir/build.log" >&2; exit 1; }
  rm -rf "$dir"/git-[0-9]*
}
