#!/bin/sh
# Installs a pinned code-server, and the Node that it wants, into a directory, once. No script of
# its packages runs: what these would build (a terminal, a faster log) is not needed here.
set -eu
code=code-server@4.139.1
node=node@24.21.0
dir=$1
[ "$(cat "$dir/installed" 2>/dev/null)" = "$code $node" ] && exit 0
rm -rf "$dir"
mkdir -p "$dir"
cd "$dir"
echo '{"private":true}' >package.json
npm install --no-audit --no-fund --no-progress --loglevel=error --ignore-scripts "$code"
npm install --no-audit --no-fund --no-progress --loglevel=error --prefix "$dir/node" "$node"
ln -s ../node/node_modules/node node_modules/node
cd node_modules/code-server/lib/vscode
npm install --omit=dev --no-audit --no-fund --no-progress --loglevel=error --ignore-scripts
echo "$code $node" >"$dir/installed"
