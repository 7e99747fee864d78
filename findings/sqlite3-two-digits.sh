#!/bin/sh
# The shell of SQLite 3.40.1 (Debian 12) writes one number with 15 digits as CSV and with 20 as JSON.
# So what goes through CSV is another number: 0.1 + 0.2 comes back as 0.3, and the largest double as
# infinity, where JSON brings both back. Infinity itself is Inf in CSV and 1e999 in JSON.
set -eu
command -v apt-get >/dev/null || { echo "skipped: not Debian"; exit 0; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get download sqlite3 libsqlite3-0 >/dev/null 2>errors || { cat errors; exit 1; }
for package in *.deb; do dpkg -x "$package" .; done
query='SELECT 0.1 + 0.2 AS x, 1.7976931348623157e308 AS y, 1e999 AS z'
library=$(dirname usr/lib/*/libsqlite3.so.0)
run() { LD_LIBRARY_PATH=$library usr/bin/sqlite3 "$@"; }
version=$(run --version)
seen="${version%% *}
$(run -csv :memory: "$query")
$(run -json :memory: "$query")
$(run -csv :memory: "SELECT CAST('1.79769313486232e+308' AS REAL)")"
echo "$seen"
test "$seen" = '3.40.1
0.3,1.79769313486232e+308,Inf
[{"x":0.3000000000000000444,"y":1.7976931348623156223e+308,"z":1e999}]
Inf'
