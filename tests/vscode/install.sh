#!/bin/sh
# Install the VS Code server of the tests into a folder: install.sh FOLDER. Needs npm and ripgrep.
# Scripts of packages stay off: they fetch parts from elsewhere and compile native modules. The
# server misses only its terminal, its log files and its watching of files by them.
set -eu
server="$1/node_modules/code-server/lib/vscode"
if [ -e "$server/ready" ]; then exit; fi
mkdir -p "$1"
quiet="--ignore-scripts --no-audit --no-fund --loglevel error"
# shellcheck disable=SC2086
(cd "$1" && npm install $quiet code-server@4.100.3)
# shellcheck disable=SC2086
(cd "$server" && npm install --omit=dev $quiet)
mkdir -p "$server/node_modules/@vscode/ripgrep/bin"
ln -sf "$(command -v rg)" "$server/node_modules/@vscode/ripgrep/bin/rg"
touch "$server/ready"
